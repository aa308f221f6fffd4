#include "http/performance.hpp"

#include <condition_variable>
#include <future>
#include <random>

#include "http/loop.hpp"
#include "recovery/backoff.hpp"
#include "recovery/clock.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::http {

namespace {

double random01() {
  std::random_device source;
  return std::uniform_real_distribution<double>{0, 1}(source);
}

/// False: it was stopped.
bool pause(Millis time, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

ProcessorOptions checked(const Request& request, const std::string& id, const Asker& asker,
                         ProcessorOptions options) {
  validate(options);
  make_job(request, id, asker, options);  // whether it has the secrets and keys
  return options;
}

}  // namespace

Performance::Performance(Request request, std::string id, Asker asker, Persistence persistence,
                         ProcessorOptions options)
    : request_{std::move(request)},
      id_{std::move(id)},
      asker_{std::move(asker)},
      persistence_{persistence},
      options_{checked(request_, id_, asker_, std::move(options))},
      loop_{std::make_unique<Loop>(options_)} {}
Performance::~Performance() = default;

Performed Performance::run(std::stop_token stop, const OnRetry& on_retry) {
  for (int number = 1;;) {
    auto answer = attempt(stop);
    auto outcome = decide_ending(request_, answer, facts(number)).outcome;
    const auto wait = wait_after(outcome, number);
    if (const auto* retry = std::get_if<Retry>(&outcome); retry && wait && !stop.stop_requested())
      on_retry(retry->reason, *wait);
    if (!wait || !pause(*wait, stop)) return {std::move(outcome), std::move(answer)};
    if (std::holds_alternative<Retry>(outcome)) ++number;
  }
}

Answer Performance::attempt(std::stop_token stop) {
  auto answer = std::make_shared<std::promise<Answer>>();
  auto job = make_job(request_, id_, asker_, options_);
  job.done = [answer](Answer one) { answer->set_value(std::move(one)); };
  const auto ticket = loop_->perform(std::move(job));
  const std::stop_callback on_stop{stop, [this, ticket] { loop_->cancel(ticket); }};
  auto got = answer->get_future().get();
  kill_point(KillPoint::http_after_answer);
  return got;
}

AttemptFacts Performance::facts(int number) const {
  return {.number = number,
          .max_attempts = persistence_.attempts,
          .raise_error_responses =
              request_.raise_error_responses.value_or(options_.raise_error_responses),
          .now = system_clock().wall()};
}

std::optional<Millis> Performance::wait_after(const Outcome& outcome, int number) const {
  if (const auto* snooze = std::get_if<Snooze>(&outcome)) return snooze->delay;
  const auto* retry = std::get_if<Retry>(&outcome);
  if (!retry) return {};
  return retry->delay.value_or(backoff_delay(persistence_.backoff, number, random01()));
}

}  // namespace holdfast::http
