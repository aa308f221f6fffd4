#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "server/audit_seal.hpp"

namespace holdfast::server {

/// A file to which every action of a person is appended: before it is done, on disk, and again with
/// how it ended. An action without an end is one that a crash interrupted. Each line has a hash
/// over its own bytes and the line before, and the end of the file is in a head record beside it:
/// so a line that was changed, removed or added shows, also at the end. An attacker who
/// rewrites the log and its head record together is out of scope: neither has a key, because the
/// process that would hold it is the one that writes. To rule that out, send the lines elsewhere.
///
/// A log with a fault does not stop the server: it is sealed aside, and a new chain begins that
/// names it (audit_seal.hpp). Safe to use from many threads; one process uses a folder.
class Audit {
 public:
  /// Throws `ConfigError` if the file cannot be read or written.
  explicit Audit(const std::string& path);
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  /// Returns the number of the entry; throws `StoreError` if it cannot be kept: then the action is
  /// not to be done.
  std::int64_t asked(AuditEntry entry);
  void ended(std::int64_t n, const std::string& outcome);
  /// What has ended already, in one line. Throws like `asked`.
  void note(AuditEntry entry, std::string outcome);

  /// The newest first, with numbers below `before`; the last ten thousand can be asked for.
  std::vector<AuditEntry> list(std::size_t limit, std::int64_t before) const;

  /// What was wrong with the log when it was opened, for people; empty: nothing.
  const std::string& found() const { return found_; }
  /// A sentence for each log that was sealed and is still in the folder.
  std::vector<std::string> findings() const;

 private:
  void read();
  void open_log();
  void settle();
  void append(AuditEntry entry);
  void remember(AuditEntry entry);
  AuditEntry* find(std::int64_t n);
  [[noreturn]] void refuse(const char* what) const;

  AuditPlace place_;
  AuditHeadFile head_file_;
  int file_ = -1;
  std::string found_{};
  mutable std::mutex mutex_;
  std::deque<AuditEntry> entries_;
  std::int64_t last_ = 0;     ///< number of an entry
  AuditHead end_{};           ///< of the log
  std::int64_t bytes_ = 0;    ///< of its lines
  bool half_line_ = false;    ///< a write failed: there may be more in the file than its lines
  bool head_behind_ = false;  ///< the head does not have the last line yet
};

/// For a folder that no server uses now: also what is wrong with its log as it is. Changes nothing.
std::vector<std::string> audit_findings(const std::string& folder);

}  // namespace holdfast::server
