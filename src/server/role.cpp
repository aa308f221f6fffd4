#include "server/role.hpp"

namespace holdfast::server {

std::string_view to_string(Role role) {
  switch (role) {
    case Role::viewer:
      return "viewer";
    case Role::operates:
      return "operator";
    case Role::admin:
      return "admin";
  }
  return "";
}

std::optional<Role> parse_role(std::string_view text) {
  for (auto role : {Role::viewer, Role::operates, Role::admin})
    if (to_string(role) == text) return role;
  return {};
}

std::optional<Role> role_for(Access access) {
  switch (access) {
    case Access::everybody:
      return {};
    case Access::viewer:
      return Role::viewer;
    case Access::operates:
      return Role::operates;
    case Access::undeclared:
    case Access::admin:
      return Role::admin;
  }
  return Role::admin;
}

std::string_view to_string(Access access) {
  if (access == Access::undeclared) return "undeclared";
  const auto role = role_for(access);
  return role ? to_string(*role) : "public";
}

}  // namespace holdfast::server
