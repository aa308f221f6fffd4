#pragma once

#include <string_view>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::http {

/// Throws `InvalidRequest` for the kinds of tasks that Holdfast makes itself: a callback that took
/// those would take requests for answers.
inline void check_callback_kind(std::string_view kind) {
  constexpr std::string_view own_kinds = "holdfast.";
  if (kind.starts_with(own_kinds))
    throw InvalidRequest{fmt::format(
        "the callback's kind is '{}'; kinds that begin with '{}' are taken", kind, own_kinds)};
}

}  // namespace holdfast::http
