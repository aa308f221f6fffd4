#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::http {

std::string base64(std::string_view bytes);
/// Nothing: it is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace holdfast::http
