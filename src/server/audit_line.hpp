#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
/// The line of the entry, without its line break.
std::string audit_json(const AuditEntry& entry);

/// The entry as it is kept: each field is UTF-8 (other bytes become U+FFFD) and has a limit, at
/// which it is cut between two characters. Reading its line gives the same entry.
AuditEntry as_kept(AuditEntry entry);

/// Longer lines are not lines of an audit log, so a reader needs no more memory than this.
inline constexpr std::size_t longest_audit_line = 256 * 1024;

/// Stands for the hash of the line before the first line. Logs of versions without a head record
/// have nothing there, so a log that begins with this one has a head record, or had one.
inline constexpr std::string_view before_first_line = "with a head record";

/// Sets the hash: over the hash of the line before and the bytes of this line without its member
/// `hash`.
void chain_to(std::string_view hash_before, AuditEntry& entry);

/// Whether the bytes of a line have the hash that the line says. Looks at the bytes as they are:
/// writing an entry that was read again may give other bytes for the same entry.
bool is_chained(std::string_view hash_before, std::string_view line);

/// Throws if the line is not one of an audit log.
AuditEntry read_audit_line(const std::string& line);

}  // namespace holdfast::server
