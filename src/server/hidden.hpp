#pragma once

#include <string>
#include <string_view>

namespace holdfast::server {

/// Whether a member of this name holds what must not be shown: `password`, `api_key`.
bool is_secret(std::string_view name);

struct Shown {
  std::string json{};
  bool hidden = false;  ///< something was replaced
};
/// JSON text in which the values of secret members, however deep, are "[hidden]". Everything else
/// is as it was. Text that is not JSON is returned as it is.
Shown hide_secrets(std::string_view json);
/// The same for the beginning of JSON that was cut off somewhere.
Shown hide_secrets_in_beginning(std::string_view text);

}  // namespace holdfast::server
