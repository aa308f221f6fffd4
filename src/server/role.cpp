#include "server/role.hpp"

namespace holdfast::server {

std::string_view to_string(Role role) {
  switch (role) {
    case Role::none:
      return "none";
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

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::metrics:
      return "metrics";
    case Scope::enqueue:
      return "enqueue";
    case Scope::work:
      return "work";
    case Scope::viewer:
    case Scope::operates:
    case Scope::admin:
      return to_string(role_of(scope));
  }
  return "";
}

std::optional<Scope> parse_scope(std::string_view text) {
  for (auto scope : all_scopes)
    if (to_string(scope) == text) return scope;
  return {};
}

Role role_of(Scope scope) {
  switch (scope) {
    case Scope::viewer:
      return Role::viewer;
    case Scope::operates:
      return Role::operates;
    case Scope::admin:
      return Role::admin;
    case Scope::metrics:
    case Scope::enqueue:
    case Scope::work:
      return Role::none;
  }
  return Role::none;
}

std::optional<Role> role_for(Access access) {
  switch (access) {
    case Access::everybody:
      return {};
    case Access::metrics:
    case Access::viewer:
      return Role::viewer;
    case Access::enqueue:
    case Access::work:
    case Access::operates:
      return Role::operates;
    case Access::undeclared:
    case Access::admin:
      return Role::admin;
  }
  return Role::admin;
}

std::optional<Scope> scope_for(Access access) {
  if (access == Access::metrics) return Scope::metrics;
  if (access == Access::enqueue) return Scope::enqueue;
  if (access == Access::work) return Scope::work;
  return {};
}

std::string_view to_string(Access access) {
  if (access == Access::undeclared) return "undeclared";
  const auto role = role_for(access);
  return role ? to_string(*role) : "public";
}

}  // namespace holdfast::server
