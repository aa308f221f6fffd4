#pragma once

#include <optional>
#include <string_view>

#include <holdfast/settings.hpp>

namespace holdfast {

constexpr std::string_view to_string(RecoveryAction action) {
  switch (action) {
    case RecoveryAction::retry:
      return "retry";
    case RecoveryAction::fail:
      return "fail";
    case RecoveryAction::pending:
      break;
  }
  return "pending";
}

constexpr std::optional<RecoveryAction> parse_recovery_action(std::string_view text) {
  for (auto action : {RecoveryAction::retry, RecoveryAction::fail, RecoveryAction::pending}) {
    if (to_string(action) == text) return action;
  }
  return {};
}

}  // namespace holdfast
