#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

namespace holdfast::server {

/// Who did what, and how it ended.
struct AuditEntry {
  std::int64_t n = 0;
  WallTime at{};
  std::string who{};
  std::string from{};  ///< address
  std::string what{};  ///< method and path
  std::string store{};
  std::string details{};  ///< what was asked for
  std::string outcome = "asked";
  std::string hash{};
};
std::string audit_json(const AuditEntry& entry);

/// A file to which every action of a person is appended: before it is done, on disk, and again with
/// how it ended. An action without an end is one that a crash interrupted. Each line has a hash
/// over itself and the line before, so that a line that was changed or taken out shows.
class Audit {
 public:
  /// Throws `ConfigError` if the file cannot be read or written, or its chain is broken.
  explicit Audit(std::string path);
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  /// Returns the number of the entry; throws `StoreError` if it cannot be kept: then the action is
  /// not to be done.
  std::int64_t asked(AuditEntry entry);
  void ended(std::int64_t n, const std::string& outcome);

  /// The newest first, with numbers below `before`; the last ten thousand can be asked for.
  std::vector<AuditEntry> list(std::size_t limit, std::int64_t before) const;

 private:
  void read();
  void append(AuditEntry& entry);

  std::string path_;
  int file_ = -1;
  mutable std::mutex mutex_;
  std::deque<AuditEntry> entries_;
  std::int64_t last_ = 0;
  std::string chain_{};
};

}  // namespace holdfast::server
