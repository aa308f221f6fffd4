#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <holdfast/http/secrets.hpp>

#include "http/url.hpp"

namespace holdfast::http {

/// What a request wants a secret or a signing key for.
struct SecretUse {
  Origin origin{};                       ///< where it would be sent
  std::function<std::string()> queue{};  ///< of its task; called only if a binding names queues
  std::string kind{};                    ///< of its task
  bool unbound_allowed = false;          ///< a secret without any binding may be used
};

/// Throws `InvalidRequest` if `binding` does not allow that; it says what to change. `what` is the
/// secret or key, as in `secret 'token'`. Throws `ConfigError` for hosts that are none.
void check_use(std::string_view what, const Binding& binding, const SecretUse& use);

}  // namespace holdfast::http
