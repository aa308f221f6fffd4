#include "server/quotas.hpp"

#include <utility>

#include <fmt/format.h>

#include "recovery/clock.hpp"

namespace holdfast::server {

namespace {

constexpr Millis ask_again{1'000};
/// When tasks end is not known, so a caller who has too many waiting comes back after a while.
constexpr Millis come_back{5'000};

Rate rate_of(const ProgramToken& token) {
  const auto tasks = token.quota_per_minute.value();
  return {.tasks = tasks, .period = std::chrono::minutes{1}, .burst = tasks};
}

/// In the queues of the token, whoever enqueued them.
std::int64_t waiting(const ProgramToken& token, const std::vector<QueueStatus>& queues) {
  std::int64_t sum = 0;
  for (const auto& queue : queues)
    if (token.allows_queue(queue.queue))
      sum += queue.count(TaskState::pending) + queue.count(TaskState::blocked);
  return sum;
}

void check_size(const ProgramToken& token, std::size_t tasks) {
  for (const auto& quota : {token.quota_per_minute, token.quota_waiting})
    if (quota && std::cmp_less(*quota, tasks))
      throw invalid(fmt::format(
          "the request has {} tasks, and the quota of the token '{}' is {}; enqueue fewer at once",
          tasks, token.name, *quota));
}

}  // namespace

Quotas::Store& Quotas::store(const std::string& name) {
  std::lock_guard lock{mutex_};
  return stores_[name];
}

std::unique_ptr<Quotas::Taken> Quotas::take(const ProgramToken& token, const Engine& engine,
                                            std::size_t tasks) {
  if (!token.quota_per_minute && !token.quota_waiting) return nullptr;
  check_size(token, tasks);
  const auto count = static_cast<int>(tasks);
  const auto name = engine.name();
  auto& known = store(name);
  std::lock_guard lock{known.mutex};
  const auto now = system_clock().steady();
  if (token.quota_waiting && (!known.asked || now - *known.asked >= ask_again)) {
    known.queues = Inspector{engine}.queues();
    known.asked = now;
    for (auto& [fingerprint, each] : known.of_token) each.enqueued = 0;
    std::erase_if(known.of_token, [](const auto& each) { return each.second.being_enqueued == 0; });
  }
  auto& own = known.of_token[token.fingerprint];
  const auto wait = waiting(token, known.queues) + own.being_enqueued + own.enqueued;
  if (token.quota_waiting && wait + count > *token.quota_waiting)
    throw wait_for("quota_exceeded",
                   fmt::format("{} tasks wait in the queues of the token '{}', and {} are allowed; "
                               "nothing was enqueued",
                               wait, token.name, *token.quota_waiting),
                   come_back);
  if (token.quota_per_minute)
    if (const auto left = rates_.take(token.fingerprint, rate_of(token), count, now);
        left > Millis{0})
      throw wait_for("quota_exceeded",
                     fmt::format("the token '{}' may enqueue {} tasks a minute, and this is more; "
                                 "nothing was enqueued",
                                 token.name, *token.quota_per_minute),
                     left);
  own.being_enqueued += count;
  return std::make_unique<Taken>(*this, token, name, count);
}

void Quotas::end(const ProgramToken& token, const std::string& name, int tasks, bool kept) {
  if (!kept && token.quota_per_minute)
    rates_.put_back(token.fingerprint, rate_of(token), tasks, system_clock().steady());
  auto& known = store(name);
  std::lock_guard lock{known.mutex};
  auto& own = known.of_token[token.fingerprint];
  own.being_enqueued -= tasks;
  if (kept) own.enqueued += tasks;
}

}  // namespace holdfast::server
