#pragma once

#include <string>
#include <string_view>

namespace holdfast {

/// What the payload of a transaction's task says.
struct StartWords {
  std::string id;
  std::string input;  ///< JSON text, as it was given
};

std::string start_payload(const StartWords& words);
/// Throws `UnfitPayload` for a payload that is not one of ours.
StartWords parse_start(std::string_view payload);

}  // namespace holdfast
