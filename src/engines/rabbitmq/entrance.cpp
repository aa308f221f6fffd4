#include "engines/rabbitmq/entrance.hpp"

#include <algorithm>
#include <utility>

#include "engines/rabbitmq/pause.hpp"

namespace holdfast::rabbitmq {

namespace {

using Kind = Trial::Verdict::Kind;

/// Until a queue that cannot be read is tried again.
constexpr Millis first_pause{500}, longest_pause{30'000};
/// So long is waited for an answer: of new queues; of one that is alone; of those that were silent
/// before, which may be slow and no more.
constexpr Millis patience_with_fresh{1'000}, patience_with_one{1'000}, patience_with_silent{5'000};
/// Queues that close their connections are not tried in quicker succession.
constexpr Millis between_closings{100};
/// When a queue whose consumer was ended is looked at, and how often again.
constexpr Millis first_look{200};
constexpr int looks_again = 3;
constexpr int longer_each_look = 5;
/// A connection may end while a queue is alone on it because the server does. That it does so
/// that often in a row is the queue's doing.
constexpr int cuts_by_chance = 3;
/// Then a connection is closed, and with it goes back whatever was delivered too late to be seen.
constexpr Millis idle_for{1'000};
constexpr Millis trouble_every{5'000};
constexpr std::size_t most_remembered = 10'000;

}  // namespace

Entrance::Entrance(const Address& address, Ways ways) : address_{address}, ways_{std::move(ways)} {
  for (auto group : {Group::fresh, Group::alone, Group::silent})
    threads_.emplace_back([this, group](const std::stop_token& stop) { work(stop, group); });
}

Entrance::~Entrance() {
  for (auto& thread : threads_) thread.request_stop();
  threads_.clear();
}

void Entrance::add(const std::string& queue) {
  std::string why;
  {
    std::lock_guard lock{mutex_};
    auto& candidate = candidates_[queue];
    if (candidate.why.empty()) candidate.due = Clock::now();
    if (std::exchange(candidate.dropped, false)) {
      why = candidate.why;
      // It may have been made again since.
      candidate.stale = candidate.trying;
    }
    changed_.notify_all();
  }
  if (!why.empty()) ways_.unreadable(queue, why);
}

void Entrance::watch(const std::string& queue) {
  std::lock_guard lock{mutex_};
  auto& candidate = candidates_[queue];
  candidate.dropped = false;
  candidate.looks = looks_again;
  candidate.pause = first_look;
  candidate.due = Clock::now() + first_look;
  changed_.notify_all();
}

void Entrance::put_aside(const std::string& queue, const std::string& why) {
  Tellings tellings;
  {
    std::lock_guard lock{mutex_};
    if (relapsed_.size() > most_remembered) relapsed_.clear();
    auto& candidate = candidates_[queue];
    candidate.dropped = false;
    candidate.pause = std::max(candidate.pause, relapsed_[queue]);
    set_aside(queue, Group::alone, why, tellings);
    relapsed_[queue] = candidate.pause;
  }
  for (const auto& tell : tellings) tell();
}

void Entrance::drop(const std::string& queue) {
  std::lock_guard lock{mutex_};
  auto at = candidates_.find(queue);
  if (at == candidates_.end()) return;
  at->second.dropped = true;
  forget_if_harmless(at);
  if (candidates_.size() > most_remembered)
    std::erase_if(candidates_,
                  [](const auto& each) { return each.second.dropped && !each.second.trying; });
}

/// What is known against a queue is remembered: a transaction that comes back to it must not have
/// it tried together with others.
void Entrance::forget_if_harmless(Candidates::iterator at) {
  const auto& candidate = at->second;
  if (candidate.dropped && !candidate.trying && candidate.group == Group::fresh)
    candidates_.erase(at);
}

void Entrance::work(const std::stop_token& stop, Group group) {
  Trial trial{address_};
  Reconnecting reconnecting;
  Clock::time_point told_at{}, failed_at{};
  while (!stop.stop_requested()) {
    auto queues = take_due(stop, group);
    if (stop.stop_requested()) return;
    if (queues.empty()) {
      trial.rest();
      continue;
    }
    auto patience = group == Group::silent  ? patience_with_silent
                    : group == Group::alone ? patience_with_one
                                            : patience_with_fresh;
    try {
      auto verdicts = trial.listen_to(queues, patience, stop);
      judge(queues, verdicts);
      bool ended = verdicts[0].kind == Kind::closed || verdicts[0].kind == Kind::cut;
      if (group == Group::alone && ended) pause(stop, between_closings);
    } catch (const Error& error) {
      give_back(queues);
      if (Clock::now() - told_at >= trouble_every) ways_.trouble(error.what());
      told_at = Clock::now();
      auto now = Clock::now();
      auto well = std::chrono::duration_cast<Millis>(now - std::exchange(failed_at, now));
      pause(stop, reconnecting.ended_after(well));
    }
  }
}

std::vector<std::string> Entrance::take_due(const std::stop_token& stop, Group group) {
  const auto idle_at = Clock::now() + idle_for;
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    auto next = idle_at;
    auto due = due_now(group, next);
    if (!due.empty() || Clock::now() >= idle_at) return due;
    changed_.wait_until(lock, stop, next, [&] {
      auto later = next;
      return std::ranges::any_of(candidates_, [&](const auto& each) {
        return each.second.waits_in(group) && each.second.due < later;
      });
    });
  }
  return {};
}

std::vector<std::string> Entrance::due_now(Group group, Clock::time_point& next) {
  std::vector<Candidates::iterator> due;
  const auto now = Clock::now();
  for (auto at = candidates_.begin(); at != candidates_.end(); ++at) {
    const auto& candidate = at->second;
    if (!candidate.waits_in(group)) continue;
    if (candidate.due > now)
      next = std::min(next, candidate.due);
    else
      due.push_back(at);
  }
  // First those of which nothing bad is known.
  std::ranges::stable_partition(due, [](auto at) { return at->second.why.empty(); });
  due.resize(std::min(due.size(), group == Group::alone ? 1 : Trial::most));
  std::vector<std::string> queues;
  for (auto at : due) {
    at->second.trying = true;
    queues.push_back(at->first);
  }
  return queues;
}

void Entrance::give_back(const std::vector<std::string>& queues) {
  std::lock_guard lock{mutex_};
  for (const auto& queue : queues) {
    auto at = candidates_.find(queue);
    at->second.trying = false;
    forget_if_harmless(at);
  }
}

void Entrance::judge(const std::vector<std::string>& queues,
                     const std::vector<Trial::Verdict>& verdicts) {
  Tellings tellings;
  {
    std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < queues.size(); ++i)
      judge_one(queues[i], verdicts[i], queues.size() == 1, tellings);
    changed_.notify_all();
  }
  for (const auto& tell : tellings) tell();
}

void Entrance::judge_one(const std::string& queue, const Trial::Verdict& verdict, bool was_alone,
                         Tellings& tellings) {
  auto at = candidates_.find(queue);
  auto& candidate = at->second;
  candidate.trying = false;
  if (candidate.dropped) {
    if (verdict.kind == Kind::well || verdict.kind == Kind::missing) candidate.group = Group::fresh;
    return forget_if_harmless(at);
  }
  if (std::exchange(candidate.stale, false)) {
    candidate.due = Clock::now();
    return;
  }
  if (verdict.kind != Kind::cut) candidate.cuts = 0;
  const bool with_others =
      !was_alone && (verdict.kind == Kind::closed || verdict.kind == Kind::cut);
  if (verdict.kind == Kind::well) {
    let_in(queue, verdict.gave_back, tellings);
  } else if (verdict.kind == Kind::missing) {
    candidates_.erase(at);
    tellings.emplace_back([this, queue] { ways_.gone(queue); });
  } else if (with_others) {
    candidate.group = Group::alone;  // which of them it was will show
    candidate.due = Clock::now();
  } else if (verdict.kind == Kind::cut && ++candidate.cuts < cuts_by_chance) {
    candidate.group = Group::alone;
    candidate.due = Clock::now() + first_pause;
  } else {
    auto group = verdict.kind == Kind::silent ? Group::silent : Group::alone;
    set_aside(queue, group, verdict.why, tellings);
  }
}

void Entrance::let_in(const std::string& queue, int gave_back, Tellings& tellings) {
  auto at = candidates_.find(queue);
  auto& candidate = at->second;
  if (!candidate.why.empty()) tellings.emplace_back([this, queue] { ways_.unreadable(queue, {}); });
  tellings.emplace_back([this, queue, gave_back] { ways_.open(queue, gave_back); });
  if (candidate.looks == 0) {
    candidates_.erase(at);
    return;
  }
  --candidate.looks;
  candidate.group = Group::fresh;
  candidate.why.clear();
  candidate.pause *= longer_each_look;
  candidate.due = Clock::now() + candidate.pause;
}

void Entrance::set_aside(const std::string& queue, Group group, const std::string& why,
                         Tellings& tellings) {
  auto& candidate = candidates_[queue];
  candidate.group = group;
  candidate.looks = 0;
  candidate.pause = std::clamp(2 * candidate.pause, first_pause, longest_pause);
  candidate.due = Clock::now() + jittered(candidate.pause);
  if (std::exchange(candidate.why, why) != why)
    tellings.emplace_back([this, queue, why] { ways_.unreadable(queue, why); });
}

void Entrance::pause(const std::stop_token& stop, Millis time) {
  std::mutex mutex;
  std::unique_lock lock{mutex};
  std::condition_variable_any stopped;
  stopped.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace holdfast::rabbitmq
