#include "server/history.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <holdfast/error.hpp>

#include "tasks/engine_parts.hpp"

namespace holdfast::server {

namespace {

using std::chrono::seconds;

struct Resolution {
  int resolution_s;
  seconds kept;
};
constexpr std::array levels = {Resolution{1, std::chrono::hours{1}},
                               Resolution{60, std::chrono::hours{48}},
                               Resolution{3'600, std::chrono::hours{24 * 365}}};
constexpr std::size_t most_waiting = 3'600;

/// When the second, minute or hour of a time began. Those of the clock, so that servers agree.
WallTime beginning(WallTime time, const Resolution& level) {
  const Millis length = seconds{level.resolution_s};
  return WallTime{time.time_since_epoch() / length * length};
}

}  // namespace

MetricsHistory* History::store() const {
  auto& parts = engine_.parts();
  return parts.run_level() == RunLevel::normal ? parts.metrics_history() : nullptr;
}

std::string History::kept_in() const {
  const auto why = refusal();
  if (!why.empty()) return "this server, for an hour, because the store refuses: " + why;
  if (!store()) return "this server, for an hour, because the store cannot be written";
  return "the store";
}

std::string History::refusal() const {
  std::lock_guard lock{refusal_mutex_};
  return refusal_;
}

void History::note_refusal(std::string why) {
  std::lock_guard lock{refusal_mutex_};
  refusal_ = std::move(why);
}

void History::add(const Point& point) {
  std::lock_guard lock{mutex_};
  waiting_.push_back(point);
  waiting_.back().at = beginning(point.at, levels[0]);
  if (waiting_.size() > most_waiting) waiting_.erase(waiting_.begin());
}

void History::flush(WallTime now) {
  std::lock_guard lock{mutex_};
  auto* kept = store();
  if (!kept || waiting_.empty()) return;
  std::vector<HistoryPoint> points;
  for (const auto& point : waiting_)
    points.push_back({levels[0].resolution_s, point.at, point_text(point)});
  std::vector<HistoryEnd> ends;
  for (const auto& level : levels)
    ends.push_back({level.resolution_s, now - level.kept + Millis{1}});
  try {
    kept->keep(points, ends);
    waiting_.clear();
    for (std::size_t level = 1; level < levels.size(); ++level) roll_up(level, now);
    note_refusal({});
  } catch (const StoreError& error) {
    // A full disk is no reason not to show how the store is; it is tried again.
    note_refusal(error.what());
  }
}

void History::roll_up(std::size_t which, WallTime now) {
  const auto& level = levels[which];
  const auto until = beginning(now, level);
  if (rolled_up_[which] == until) return;
  const auto finer = levels[which - 1].kept;
  const auto done = store()->read(level.resolution_s, now - finer, until);
  const auto from =
      done.empty() ? beginning(now - finer, level) : done.back().at + seconds{level.resolution_s};
  std::map<WallTime, std::vector<Point>> parts;
  for (auto& point : read(which - 1, from, until))
    parts[beginning(point.at, level)].push_back(std::move(point));
  std::vector<HistoryPoint> points;
  for (const auto& [at, several] : parts)
    points.push_back({level.resolution_s, at, point_text(average(several))});
  if (!points.empty()) store()->keep(points, {});
  rolled_up_[which] = until;
}

std::vector<Point> History::read(std::size_t level, WallTime since, WallTime until) const {
  std::vector<Point> points;
  auto* kept = store();
  if (kept)
    for (const auto& each : kept->read(levels[level].resolution_s, since, until))
      if (auto point = parse_point(each.at, each.text)) points.push_back(*std::move(point));
  if (level > 0) return points;
  // What is not written yet comes later than what is.
  const auto last = points.empty() ? WallTime{} : points.back().at;
  for (const auto& point : waiting_)
    if (point.at > last && point.at >= since && point.at < until) points.push_back(point);
  return points;
}

History::Read History::since(WallTime since, WallTime now) const {
  std::lock_guard lock{mutex_};
  std::size_t which = 0;
  while (which + 1 < levels.size() && now - since > levels[which].kept) ++which;
  const auto& level = levels[which];
  Read found{.resolution_s = level.resolution_s};
  found.points = read(which, since, now + seconds{1});
  if (which == 0) return found;
  // What is too young to be averaged is shown all the same.
  const auto from = found.points.empty() ? beginning(now, level)
                                         : found.points.back().at + seconds{level.resolution_s};
  auto rest = read(which - 1, std::max(from, since), now + seconds{1});
  if (rest.empty()) return found;
  found.points.push_back(average(rest));
  found.points.back().at = beginning(rest.back().at, level);
  return found;
}

}  // namespace holdfast::server
