#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// What a configuration says about names, beside what is known here. Each is a name in any spelling
/// (`card_number` is also `cardNumber` and `Card-Number`); `*` stands for any letters.
struct HideRules {
  std::vector<std::string> keys{};   ///< hide the values of these too
  std::vector<std::string> allow{};  ///< never hide the values of these; wins over all else
};
/// What is wrong with such a name; empty if it can be used.
std::string fault_of_rule(std::string_view name);
/// Sets the rules of this process. Safe from any thread; later calls replace earlier ones. Throws
/// `ConfigError` if one of them has a fault.
void set_hide_rules(const HideRules& rules);

/// Whether a member, header, parameter or variable of this name holds a credential: `password`,
/// `X-Api-Key`, `clientSecret`. Goes by whole words, so `monkey`, `passed` and `token_count` do
/// not. Takes time by the length of the name at most.
bool is_secret_name(std::string_view name);
/// The same for parameters of a URL, where `key` and `sig` are credentials too.
bool is_secret_parameter(std::string_view name);
/// Whether this value (JSON as it was written) of a member with a secret name is nothing to hide:
/// `null`, `true`, `false`, an empty string, or the number in `tokens` or `pass`, which counts.
bool is_plain_value(std::string_view name, std::string_view value);

}  // namespace holdfast
