#pragma once

#include <string>
#include <vector>

#include "server/audit_check.hpp"

namespace holdfast::server {

/// Where an audit log and what belongs to it are.
struct AuditPlace {
  explicit AuditPlace(const std::string& path);

  std::string folder;
  std::string log;      ///< `audit.jsonl`
  std::string head;     ///< `audit.jsonl.head`
  std::string sealing;  ///< there while a broken log is being sealed
};

/// Puts a broken log aside under a name that says so, with the line of the fault, and begins a new
/// chain whose first entry names that file, the fault and the hash of the whole file. What is to be
/// done is on disk before anything is moved: after a crash at any place in between,
/// `finish_sealing` ends it. Returns the name of the sealed file. Throws `ConfigError` if the
/// folder cannot be written.
std::string seal_audit(const AuditPlace& place, const AuditCheck& found, WallTime now);

/// To be called before a log is read. Does nothing where no sealing was interrupted.
void finish_sealing(const AuditPlace& place);

/// The names of the logs in this folder that were sealed, oldest first.
std::vector<std::string> sealed_audits(const std::string& folder);

/// Makes what was renamed, made or removed in a folder survive a power failure. Throws
/// `ConfigError`.
void sync_folder(const std::string& folder);

}  // namespace holdfast::server
