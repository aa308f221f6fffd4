#include "engines/redis/check_integrity.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "engines/redis/fresh_list.hpp"

namespace holdfast::redis {

namespace {

constexpr std::int64_t tasks_a_script = 200;
constexpr std::int64_t tasks_of_a_quick_check = 10'000;
constexpr std::size_t damage_listed = 1'000;

class Check {
 public:
  Check(Store& store, IntegrityResult& result) : store_{store}, result_{result} {}

  /// Tasks between two places of all of them.
  void look(std::int64_t first, std::int64_t last) {
    auto arguments = store_.arguments();
    take(
        store_.run(scripts::check, arguments.add(std::vector<std::string>{}).add(first).add(last)));
  }

  /// Tasks that must be in the lists of their lanes. Those are read once, after the tasks were
  /// looked at; who is not there may have been claimed since, so it is looked at once more.
  void look_into_lists() {
    auto lanes = std::exchange(fresh_, {});
    std::vector<std::string> missing;
    for (auto& [lane, ids] : lanes) {
      for (const auto& id : fresh_ids(store_, lane)) ids.erase(id);
      missing.insert(missing.end(), ids.begin(), ids.end());
    }
    for (std::span<const std::string> rest{missing}; !rest.empty();) {
      auto some = rest.first(std::min(rest.size(), std::size_t{tasks_a_script}));
      rest = rest.subspan(some.size());
      auto arguments = store_.arguments();
      take(store_.run(scripts::check,
                      arguments.add(std::vector<std::string>{some.begin(), some.end()})));
    }
    for (const auto& [lane, ids] : fresh_)
      for (const auto& id : ids)
        add(id, "is pending but is not in its queue, so nobody would run it");
  }

  std::int64_t looked_at() const { return looked_at_; }

 private:
  void take(const Value& answer) {
    looked_at_ += answer[0].number();
    for (std::size_t i = 0; i < answer[1].size(); ++i)
      add(answer[1][i][0].text(), answer[1][i][1].text());
    for (std::size_t i = 0; i < answer[2].size(); ++i)
      fresh_[answer[2][i][1].string()].insert(answer[2][i][0].string());
  }

  void add(std::string_view id, std::string_view what) {
    result_.damage.push_back(
        {Damage::Kind::index, fmt::format("Task {} {}.", id, what), TaskId::parse(id)});
  }

  Store& store_;
  IntegrityResult& result_;
  std::int64_t looked_at_ = 0;
  std::map<std::string, std::set<std::string>> fresh_;  ///< by lane
};

}  // namespace

IntegrityResult check_integrity(Store& store, bool full, std::stop_token stop) {
  IntegrityResult result;
  result.full = full;
  auto begin = system_clock().steady();
  auto all = store.server.call({"ZCARD", store.keys.key("all")}).number();
  auto least = full ? 0 : std::max<std::int64_t>(all - tasks_of_a_quick_check, 0);
  Check check{store, result};
  // From the newest on: what is inserted meanwhile does not shift what has not been looked at.
  for (auto end = all; end > least && result.damage.size() < damage_listed;) {
    if (stop.stop_requested()) {
      result.completed = false;
      break;
    }
    auto first = std::max(end - tasks_a_script, least);
    check.look(first, end - 1);
    end = first;
  }
  result.rows_checked = check.looked_at();
  check.look_into_lists();
  result.passed = result.damage.empty();
  result.duration = system_clock().steady() - begin;
  if (!result.passed)
    result.advice =
        "Something else than Holdfast has changed keys of this store. Cancel and enqueue anew the "
        "tasks that are named.";
  return result;
}

}  // namespace holdfast::redis
