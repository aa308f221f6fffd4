#include "engines/redis/check_integrity.hpp"

#include <fmt/format.h>

namespace holdfast::redis {

namespace {

constexpr std::int64_t tasks_a_script = 200;
constexpr std::int64_t tasks_of_a_quick_check = 10'000;
constexpr std::size_t damage_listed = 1'000;

}  // namespace

IntegrityResult check_integrity(Store& store, bool full, std::stop_token stop) {
  IntegrityResult result;
  result.full = full;
  auto begin = system_clock().steady();
  auto all = store.server.call({"ZCARD", store.keys.key("all")}).number();
  auto least = full ? 0 : std::max<std::int64_t>(all - tasks_of_a_quick_check, 0);
  // From the newest on: what is inserted meanwhile does not shift what has not been looked at.
  for (auto end = all; end > least && result.damage.size() < damage_listed;) {
    if (stop.stop_requested()) {
      result.completed = false;
      break;
    }
    auto first = std::max(end - tasks_a_script, least);
    auto answer = store.run(scripts::check, store.arguments().add(first).add(end - 1));
    end = first;
    result.rows_checked += answer[0].number();
    for (std::size_t i = 0; i < answer[1].size(); ++i) {
      auto problem = answer[1][i];
      result.damage.push_back({Damage::Kind::index,
                               fmt::format("Task {} {}.", problem[0].text(), problem[1].text()),
                               TaskId::parse(problem[0].text())});
    }
  }
  result.passed = result.damage.empty();
  result.duration = system_clock().steady() - begin;
  if (!result.passed)
    result.advice =
        "Something else than Holdfast has changed keys of this store. Cancel and enqueue anew the "
        "tasks that are named.";
  return result;
}

}  // namespace holdfast::redis
