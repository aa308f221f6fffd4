#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "server/role.hpp"

namespace holdfast::server {

/// A credential of a program, without its secret.
struct ProgramToken {
  std::string name{};         ///< by which the audit log and the tags of tasks know it
  std::string fingerprint{};  ///< of the secret
  std::set<Scope> scopes{};
  /// What `enqueue` and `work` are allowed for: exact names, or `prefix*`; empty: all. What is
  /// reserved for Holdfast itself is never allowed, but for HTTP requests (`holdfast.http`) where
  /// the kind is named.
  std::vector<std::string> queues{};
  std::vector<std::string> kinds{};
  /// Of `enqueue`: so many tasks a minute, and so many that wait in its queues; nothing: no quota.
  std::optional<int> quota_per_minute{};
  std::optional<int> quota_waiting{};
  WallTime created{};
  std::string created_by{};
  std::optional<WallTime> expires{};
  std::optional<WallTime> revoked{};
  std::string revoked_by{};

  bool has(Scope scope) const { return scopes.contains(scope); }
  /// The highest that its scopes come with.
  Role role() const;
  bool allows_queue(std::string_view queue) const;
  bool allows_kind(std::string_view kind) const;
  /// `active`, `expired` or `revoked`.
  std::string_view state(WallTime now) const;
};

class Fields;
/// A quota of a token, as the member `name` has it.
std::optional<int> quota_of(const Fields& fields, std::string_view name);

/// With this every secret of a token begins, so that it is known where it should not be.
inline constexpr std::string_view token_prefix = "hf_";

/// Throws `InvalidRequest` unless such a token can be made: its name, its scopes and what they are
/// for, and when it expires.
void validate(const ProgramToken& token, WallTime now);

/// What people may know of it: everything but the fingerprint.
std::string token_json(const ProgramToken& token, WallTime now,
                       std::optional<WallTime> last_used = {});

/// One line of the file, without its end.
std::string token_line(const ProgramToken& token);
/// Throws `Problem` if it is not what `token_line` writes. A member that is not known is refused,
/// because it may narrow what the token is for.
ProgramToken read_token(const std::string& line);

}  // namespace holdfast::server
