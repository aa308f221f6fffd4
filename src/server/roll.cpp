#include "server/roll.hpp"

#include <algorithm>

namespace holdfast::server {

namespace {

constexpr double shortest_stream = 1, longest_stream = 60;
/// Nobody comes back after this: stores forget workers that are gone for so long.
constexpr auto remembered = std::chrono::days{8};

double seconds(WallTime::duration time) { return static_cast<double>(time.count()) / 1'000; }

std::int64_t minute(WallTime time) {
  return std::chrono::floor<std::chrono::minutes>(time.time_since_epoch()).count();
}

}  // namespace

Roll::Rates Roll::look(const std::vector<ToldFigures>& told, WallTime now) {
  Rates rates;
  for (const auto& each : told) take(each, rates);
  // A wall clock that was set back must not make a division by nothing.
  if (last_) flow(std::max(seconds(now - *last_), 0.1), rates);
  last_ = now;
  forget(now);
  return rates;
}

void Roll::take(const ToldFigures& told, Rates& rates) {
  auto [place, is_new] = seen_.try_emplace(told.worker, Seen{told.enlisted_at});
  auto& seen = place->second;
  if (!is_new && seen.at == told.at) return;
  const auto figures = Figures::parse(told.figures);
  if (!figures) return;
  if (last_) {
    Stream stream{.figures = figures->since(seen.figures)};
    stream.seconds = std::clamp(seconds(told.at - seen.at), shortest_stream, longest_stream);
    stream.left = stream.seconds;
    rates.run.add(stream.figures.run);
    rates.wait.add(stream.figures.wait);
    minutes_[minute(told.at)].add(stream.figures);
    if (stream.figures != Figures{}) streams_.push_back(std::move(stream));
  }
  seen = {told.at, *figures};
}

void Roll::flow(double elapsed, Rates& rates) {
  for (auto& stream : streams_) {
    const auto part = std::min(elapsed, stream.left) / stream.seconds / elapsed;
    stream.left -= elapsed;
    const auto tally = stream.figures.total();
    rates.completed_per_s += part * static_cast<double>(tally.completed);
    rates.failed_per_s += part * static_cast<double>(tally.failed);
    rates.retried_per_s += part * static_cast<double>(tally.retried);
    rates.run_lately.add(stream.figures.run);
    rates.wait_lately.add(stream.figures.wait);
  }
  std::erase_if(streams_, [](const Stream& stream) { return stream.left <= 0; });
}

void Roll::forget(WallTime now) {
  std::erase_if(seen_, [&](const auto& entry) { return entry.second.at < now - remembered; });
  minutes_.erase(minutes_.begin(), minutes_.lower_bound(minute(now) - 60));
}

std::vector<Figures::OfKind> Roll::last_hour() const {
  Figures sum;
  for (const auto& [time, figures] : minutes_) sum.add(figures);
  return sum.kinds;
}

}  // namespace holdfast::server
