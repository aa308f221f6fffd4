#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "server/audit_head.hpp"
#include "server/audit_line.hpp"

namespace holdfast::server {

/// The entry with which a log of an earlier version gets its head record.
inline constexpr std::string_view head_begun = "begin the head record of the audit log";
inline constexpr std::string_view head_begun_by = "holdfast";

/// What an audit log was found to be.
struct AuditCheck {
  AuditHead end{};          ///< of the lines that are as they were written
  std::int64_t bytes = 0;   ///< that these have
  std::string fault{};      ///< what is wrong; empty: nothing
  std::int64_t line = 0;    ///< where
  std::string file_hash{};  ///< over all bytes of the file
};

/// Reads a log from its beginning to its end, each line once and none of more than
/// `longest_audit_line`, and tells `each` of every entry until the first fault. What follows a
/// fault only goes into `file_hash`. A log that is not there has no lines. Changes nothing.
///
/// A line is appended and synced before the head says so. So these are what a crash leaves, and no
/// faults: the log ends where its head says; it has one line more; it has a part of one line more.
/// A log of a version that had no head record has none, and its end is not checked. Every other log
/// without one is a fault: else its last lines could be cut off together with the head record.
///
/// Throws `ConfigError` if the file cannot be read.
AuditCheck check_audit(const std::string& path, const AuditHeadFile::Found& head,
                       const std::function<void(AuditEntry)>& each);

}  // namespace holdfast::server
