#pragma once

#include <optional>
#include <string_view>

namespace holdfast::server {

/// What a caller may do. Each may do what those before it may.
enum class Role {
  none,      ///< only what a scope of its token allows
  viewer,    ///< look
  operates,  ///< enqueue, retry, cancel, pause
  admin,     ///< see who did what, and give out tokens
};
std::string_view to_string(Role role);
/// Nothing for `none`, too: people have a role.
std::optional<Role> parse_role(std::string_view text);

/// What a token of a program may be used for; see `ProgramToken`.
enum class Scope {
  metrics,  ///< read /metrics
  enqueue,  ///< enqueue tasks of the token's queues and kinds
  work,     ///< be a remote worker for the token's queues and kinds
  viewer,   ///< what the role may; so the two that follow
  operates,
  admin,
};
inline constexpr Scope all_scopes[] = {Scope::metrics, Scope::enqueue,  Scope::work,
                                       Scope::viewer,  Scope::operates, Scope::admin};
std::string_view to_string(Scope scope);
std::optional<Scope> parse_scope(std::string_view text);
/// The role that comes with it; `none` for those of programs only.
Role role_of(Scope scope);

/// Who may use a route. There is no default, so that none is open by mistake.
enum class Access {
  undeclared,  ///< refused; a test fails where a route has it
  everybody,   ///< said on purpose: logging in, and whether the server is alive
  metrics,     ///< viewers, and tokens with this scope; so the two that follow, with operators
  enqueue,
  work,
  viewer,
  operates,
  admin,
};
/// The role that it takes; nothing for everybody.
std::optional<Role> role_for(Access access);
/// The scope of a token that is enough without that role; nothing: only the role is.
std::optional<Scope> scope_for(Access access);
/// The role as openapi.json says it.
std::string_view to_string(Access access);

}  // namespace holdfast::server
