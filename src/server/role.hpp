#pragma once

#include <optional>
#include <string_view>

namespace holdfast::server {

/// What a caller may do. Each may do what those before it may.
enum class Role {
  viewer,    ///< look
  operates,  ///< enqueue, retry, cancel, pause
  admin,     ///< see who did what
};
std::string_view to_string(Role role);
std::optional<Role> parse_role(std::string_view text);

/// Who may use a route. There is no default, so that none is open by mistake.
enum class Access {
  undeclared,  ///< refused; a test fails where a route has it
  everybody,   ///< said on purpose: logging in, and whether the server is alive
  viewer,
  operates,
  admin,
};
/// The role that it takes; nothing for everybody.
std::optional<Role> role_for(Access access);
/// As openapi.json says it.
std::string_view to_string(Access access);

}  // namespace holdfast::server
