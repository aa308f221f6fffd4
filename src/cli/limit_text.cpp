#include "cli/limit_text.hpp"

#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <holdfast/error.hpp>

#include "cli/duration.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

void add_limit_name(CLI::App& command, LimitName& name) {
  command.add_option("SCOPE", name.scope, "queue, kind or key")
      ->required()
      ->check(CLI::IsMember({"queue", "kind", "key"}));
  command.add_option("NAME", name.name, "Its name; * is each that has no limit of its own")
      ->required()
      ->type_name("");
}

Rate parse_rate(const std::string& text) {
  const auto slash = text.find('/');
  Rate rate;
  const char* end = text.data() + std::min(slash, text.size());
  const auto read = std::from_chars(text.data(), end, rate.tasks);
  if (slash == std::string::npos || read.ec != std::errc{} || read.ptr != end)
    throw InvalidRequest{fmt::format(
        "--rate is '{}', which is not a rate; write how many tasks may start in which time, such "
        "as 10/1s or 100/1m",
        text)};
  rate.period = parse_duration(text.substr(slash + 1), "the period of --rate");
  return rate;
}

std::string rate_text(const Rate& rate) {
  auto text = fmt::format("{} in {}", rate.tasks, duration_text(rate.period));
  return rate.burst > 0 ? fmt::format("{}, burst {}", text, rate.burst) : text;
}

}  // namespace holdfast::cli
