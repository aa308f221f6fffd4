#include "documents/limit_json.hpp"

#include <algorithm>

#include "documents/json.hpp"

namespace holdfast {

namespace {

std::string use_json(const LimitUse& use) {
  return JsonObject{}
      .text("name", use.name)
      .number("running", use.running)
      .json("tokens", use.tokens ? std::to_string(*use.tokens) : "")
      .str();
}

}  // namespace

std::string limit_json(const LimitStatus& status, std::size_t most_uses) {
  const auto& limit = status.limit;
  std::vector<std::string> uses;
  const auto shown = std::min(status.uses.size(), most_uses);
  for (std::size_t i = 0; i < shown; ++i) uses.push_back(use_json(status.uses[i]));
  std::string rate;
  if (limit.rate)
    rate = JsonObject{}
               .number("tasks", limit.rate->tasks)
               .number("period_ms", limit.rate->period.count())
               .number("burst", limit.rate->capacity())
               .str();
  return JsonObject{}
      .text("scope", to_string(limit.scope))
      .text("name", limit.name)
      .json("max_running", limit.max_running ? std::to_string(*limit.max_running) : "")
      .json("rate", rate)
      .json("uses", json_list(uses))
      .number("uses_left_out", status.uses.size() - shown)
      .str();
}

}  // namespace holdfast
