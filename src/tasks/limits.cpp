#include <holdfast/limit.hpp>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "tasks/engine_parts.hpp"
#include "tasks/names.hpp"

namespace holdfast {

namespace {

constexpr int most_tasks = 1'000'000;
constexpr Millis longest_period = std::chrono::hours{24 * 31};
constexpr std::string_view scope_names[] = {"queue", "kind", "key"};

void check_rate(const Rate& rate) {
  if (rate.tasks < 1 || rate.tasks > most_tasks)
    throw InvalidRequest{
        fmt::format("the rate lets {} tasks start; 1 to {} is allowed", rate.tasks, most_tasks)};
  if (rate.period < Millis{1} || rate.period > longest_period)
    throw InvalidRequest{
        fmt::format("the period of the rate is {} ms; 1 to {} (31 days) is allowed",
                    rate.period.count(), longest_period.count())};
  if (rate.burst < 0 || rate.burst > most_tasks)
    throw InvalidRequest{
        fmt::format("the burst is {}; 1 to {} is allowed", rate.burst, most_tasks)};
}

}  // namespace

std::string_view to_string(LimitScope scope) {
  return scope_names[static_cast<std::size_t>(scope)];
}

std::optional<LimitScope> parse_limit_scope(std::string_view text) {
  for (auto scope : {LimitScope::queue, LimitScope::kind, LimitScope::key})
    if (to_string(scope) == text) return scope;
  return {};
}

void validate(const Limit& limit) {
  check_name(fmt::format("name of the {}", to_string(limit.scope)), limit.name, longest_name);
  if (!limit.max_running && !limit.rate)
    throw InvalidRequest{
        "the limit limits nothing: say how many may run at once, or at what rate they may start"};
  if (limit.max_running && (*limit.max_running < 0 || *limit.max_running > most_tasks))
    throw InvalidRequest{
        fmt::format("{} tasks at once; 0 to {} is allowed", *limit.max_running, most_tasks)};
  if (limit.rate) check_rate(*limit.rate);
}

void Limits::set(const Limit& limit) {
  validate(limit);
  require_not_moved(engine_.parts());
  engine_.parts().limits().set(std::span{&limit, 1});
}

bool Limits::remove(LimitScope scope, const std::string& name) {
  return engine_.parts().limits().remove(scope, name);
}

std::vector<LimitStatus> Limits::list() const { return engine_.parts().limits().list(); }

}  // namespace holdfast
