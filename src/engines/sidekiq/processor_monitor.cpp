#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sidekiq/check_server.hpp"
#include "engines/sidekiq/processor_state.hpp"

namespace holdfast::http {

namespace {

/// As often as Sidekiq itself.
constexpr Millis seen_every{5'000};
constexpr Millis due_every{1'000};
constexpr Millis lives_every{400};
constexpr Millis clocks_differ_by{1'000};  // or less
constexpr Millis longest_between_looks{5'000};

/// Something to do now and then.
class Duty {
 public:
  using Steady = std::chrono::steady_clock;
  Duty(Millis every, std::function<void()> work) : every_{every}, work_{std::move(work)} {}

  Steady::time_point due() const { return due_; }
  void run_if_due() {
    if (Steady::now() < due_) return;
    due_ = Steady::now() + every_;
    work_();
  }

 private:
  Millis every_;
  std::function<void()> work_;
  Steady::time_point due_{};
};

}  // namespace

void SidekiqProcessor::State::check_server() {
  auto warnings = sidekiq::check_server(server_);
  sidekiq::check_format(server_, *address_.dialect);
  for (const auto& warning : warnings) log(Severity::warning, warning);
}

void SidekiqProcessor::State::monitor(std::stop_token stop) {
  auto look = std::min(options_.heartbeat_interval / 2, longest_between_looks);
  std::array duties{Duty{lives_every, [this] { look_for_the_dead(); }},
                    Duty{seen_every, [this] { be_seen(); }},
                    Duty{options_.heartbeat_interval, [this] { beat(); }},
                    Duty{due_every, [this] { put_due_back(); }},
                    Duty{look, [this] { recovered_ += recovery_.run_once().again; }}};
  while (!stop.stop_requested()) {
    auto next = Steady::time_point::max();
    for (auto& duty : duties) {
      try {
        duty.run_if_due();
      } catch (const StoreError& error) {
        log_trouble(fmt::format("Redis cannot be reached as it should: {}", error.what()));
      }
      next = std::min(next, duty.due());
    }
    std::unique_lock lock{mutex_};
    pauses_.wait_until(lock, stop, next, [] { return false; });
  }
}

void SidekiqProcessor::State::be_seen() {
  sidekiq::Presence::Now now{.busy = in_flight(),
                             .quiet = life_.rests(),
                             .processed = processed_.exchange(0),
                             .failed = failed_.exchange(0)};
  std::optional<std::string> signal;
  try {
    signal = presence_.beat(now);
  } catch (const StoreError&) {
    processed_ += now.processed;
    failed_ += now.failed;
    throw;
  }
  if (signal == "TSTP") rest();
  if (signal == "TERM" || signal == "INT") quiet();
  registry_.tell(standing().text());
}

Standing SidekiqProcessor::State::standing() const {
  std::lock_guard lock{mutex_};
  const auto reasons = breaker_.reasons();
  return {.state = std::string{to_string(state())},
          .per_host = options_.processor.per_host,
          .left_alone = loop_ ? loop_->left_alone() : std::vector<LeftAlone>{},
          .trouble = reasons.empty() ? std::string{} : reasons.begin()->second};
}

void SidekiqProcessor::State::beat() {
  auto lost = registry_.beat(holds());
  lives_.tell();
  std::lock_guard lock{mutex_};
  for (const auto& token : lost)
    if (auto held = held_.find(token); held != held_.end() && loop_)
      loop_->cancel(held->second->ticket);
}

void SidekiqProcessor::State::put_due_back() {
  // The server's clock says what is due, and ours said when it will be.
  auto due = Steady::now() - clocks_differ_by;
  auto moved = registry_.move_due();
  {
    std::lock_guard lock{mutex_};
    put_back_until_ = due;
  }
  for (const auto& [queue, why] : moved.refusals)
    log_trouble(
        fmt::format("requests that are due cannot be put back on queue {}: {}", queue, why));
  if (moved.count > 0) watch_.interrupt();
}

void SidekiqProcessor::State::look_for_the_dead() {
  lives_.keep();
  auto dead = lives_.look();
  if (!dead.empty()) {
    auto recovered = recovery_.recover_from(dead);
    recovered_ += recovered.again;
    if (recovered.again > 0) watch_.interrupt();
  }
  ++looks_;
  if (options_.processor.until_empty) watch_.interrupt();
}

std::vector<sidekiq::Hold> SidekiqProcessor::State::holds() const {
  std::lock_guard lock{mutex_};
  std::vector<sidekiq::Hold> holds;
  holds.reserve(held_.size());
  for (const auto& [token, held] : held_) holds.push_back(held->hold);
  return holds;
}

}  // namespace holdfast::http
