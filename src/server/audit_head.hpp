#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast::server {

/// Where an audit log ends: a chain of hashes shows what was changed within it, and not that its
/// last lines were cut off.
struct AuditHead {
  std::int64_t lines = 0;
  std::string hash{};  ///< of the last line; empty: there is none
};

/// The file beside the log with its head. It has two slots that are written in turn and in place,
/// each with a checksum, so that a write that a crash tore leaves the head before it. Used by one
/// thread at a time.
class AuditHeadFile {
 public:
  explicit AuditHeadFile(std::string path) : path_{std::move(path)} {}
  ~AuditHeadFile();
  AuditHeadFile(const AuditHeadFile&) = delete;
  AuditHeadFile& operator=(const AuditHeadFile&) = delete;

  struct Found {
    bool is_there = false;
    std::optional<AuditHead> head{};  ///< nothing where the file is there: no slot can be read
  };
  Found read() const;

  /// Makes the file, in one step, whatever is there. Throws `ConfigError`.
  void create(const AuditHead& head);
  /// On disk when it returns; false, with errno, if not. The file must be there.
  bool write(const AuditHead& head);

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace holdfast::server
