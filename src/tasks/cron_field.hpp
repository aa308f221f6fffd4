#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace holdfast {

/// One of the five fields of a cron text.
struct CronField {
  std::string_view what;
  int least = 0;
  int most = 0;
  std::span<const std::string_view> names{};  ///< of the values, beginning with `least`
};

/// The values that `text` names, such as 0, 15, 30 and 45 for `*/15`. Throws `InvalidRequest` that
/// names the field.
std::vector<int> parse_cron_field(const CronField& field, std::string_view text);

}  // namespace holdfast
