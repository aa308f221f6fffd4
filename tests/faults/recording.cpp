#include "faults/recording.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

namespace holdfast::test {

namespace {

struct Only {
  std::size_t change = 0;
  int cut = 0;
};

std::optional<Only> only_one() {
  const char* given = std::getenv("HOLDFAST_POWER_CUT");
  if (!given) return {};
  std::string text{given};
  auto colon = text.find(':');
  return Only{std::stoul(text), std::stoi(text.substr(colon + 1))};
}

int number_of_cuts(int otherwise) {
  const char* given = std::getenv("HOLDFAST_POWER_CUTS");
  return given ? std::atoi(given) : otherwise;
}

}  // namespace

std::size_t Recording::steps_before(std::size_t change) const {
  auto after = std::upper_bound(acknowledged.begin(), acknowledged.end(), change);
  return static_cast<std::size_t>(after - acknowledged.begin());
}

std::vector<std::size_t> Recording::sync_points() const {
  auto points = all_points();
  std::erase_if(points, [&](std::size_t point) {
    if (point == changes.size()) return false;
    auto kind = changes[point].kind;
    return kind != Change::Kind::sync && kind != Change::Kind::sync_folder;
  });
  return points;
}

std::vector<std::size_t> Recording::all_points() const {
  std::vector<std::size_t> points(changes.size() + 1);
  std::iota(points.begin(), points.end(), std::size_t{0});
  return points;
}

Recording record(Durability durability) {
  Recording recording;
  Settings settings;
  settings.durability = durability;
  Workplace place{settings};
  Listening listening{[&](Change change) { recording.changes.push_back(std::move(change)); }};
  for (const auto& step : workload()) {
    place.clock().advance(Millis{1'000});
    step.act(place);
    recording.acknowledged.push_back(recording.changes.size());
  }
  return recording;
}

Files Moment::cut(int n) const {
  sim::Dice dice{change * 1'000'000 + static_cast<std::uint64_t>(n)};
  return disk.after(cut_for(n), dice);
}

std::string Moment::name(int n) const {
  const auto& steps = workload();
  auto during = acknowledged < steps.size() ? steps[acknowledged].name : "the end";
  return fmt::format("HOLDFAST_POWER_CUT={}:{} (during '{}', keeps {})", change, n, during,
                     to_string(cut_for(n)));
}

void cut_power(const Recording& recording, const std::vector<std::size_t>& places, int cuts,
               const std::function<void(const Moment&, int n)>& at) {
  auto only = only_one();
  cuts = number_of_cuts(cuts);
  Disk disk;
  std::size_t next = 0;
  for (auto place : places) {
    for (; next < place; ++next) disk.apply(recording.changes[next]);
    Moment moment{disk, place, recording.steps_before(place)};
    if (only && only->change != place) continue;
    for (int n = 0; n < cuts; ++n)
      if (!only || only->cut == n) at(moment, n);
  }
}

}  // namespace holdfast::test
