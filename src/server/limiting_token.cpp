#include "server/limiting_token.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/http/client.hpp>

namespace holdfast::server {

const ProgramToken* limiting_token(const Caller& caller) {
  return caller.token && caller.role < Role::operates ? caller.token.get() : nullptr;
}

Problem not_allowed(const ProgramToken& token, std::string_view what, const std::string& name) {
  if (what == "kind" && name == http::request_kind)
    return {403, "forbidden",
            fmt::format("the token '{}' cannot enqueue HTTP requests; that takes a token with the "
                        "scope enqueue and the kind '{}'",
                        token.name, name)};
  const auto& allowed = what == "kind" ? token.kinds : token.queues;
  return {403, "forbidden",
          allowed.empty() ? fmt::format("the {} '{}' is reserved for Holdfast itself", what, name)
                          : fmt::format("the token '{}' is not for the {} '{}'; it is for {}",
                                        token.name, what, name, fmt::join(allowed, ", "))};
}

std::string credential_of(const Caller& caller) {
  if (caller.token) return fmt::format("token {}", caller.token->fingerprint);
  return fmt::format("{} {}", static_cast<int>(caller.by), caller.name);
}

}  // namespace holdfast::server
