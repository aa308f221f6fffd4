#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "server/audit_head.hpp"
#include "server/audit_line.hpp"

namespace holdfast::server {

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
/// Without a head file (a log of a version that had none) its end is not checked.
///
/// Throws `ConfigError` if the file cannot be read.
AuditCheck check_audit(const std::string& path, const AuditHeadFile::Found& head,
                       const std::function<void(AuditEntry)>& each);

}  // namespace holdfast::server
