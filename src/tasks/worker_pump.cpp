#include <algorithm>
#include <future>
#include <iterator>

#include <fmt/format.h>

#include "tasks/perform_exchange.hpp"
#include "tasks/policy.hpp"
#include "tasks/worker_impl.hpp"

namespace holdfast {

namespace {

/// New work is announced; this is for what was not (an announcer that died after its commit).
constexpr Millis longest_wait{1'000};
constexpr Millis trouble_wait{250};
/// Something is due but could not be claimed: a suspect whose turn has not come.
constexpr Millis not_yet_wait{50};
/// Below this a second trip to the store costs more than it gains.
constexpr int many = 100;
/// Steps of a busy worker are so far apart.
constexpr Millis gathering_time{4};

}  // namespace

ClaimRequest Worker::Impl::claim_request(int limit, int suspects) const {
  ClaimRequest request{.worker = enlistment_->id(), .queues = options_.queues};
  request.kinds = kinds_;
  request.limit = limit;
  request.max_suspects = suspects;
  request.lease = settings_.heartbeat.lease();
  return request;
}

void Worker::Impl::work() {
  while (true) {
    if (any_paused_) require_hope();
    try {
      gather();
      if (!turn()) {
        if (options_.until_empty && nothing_left()) return;
        wait_for_news();
      }
    } catch (const StorageFailed&) {
      storage_failed();
      return;
    } catch (const StoreError& error) {
      trouble("settling and claiming", error);
      parts_.tasks().wait_for_work(trouble_wait);
      std::lock_guard lock{mutex_};
      look_again_ = true;
    }
    std::lock_guard lock{mutex_};
    if (ends()) return;
  }
}

void Worker::Impl::wait_for_news() {
  auto timeout = time_to_wait();
  {
    std::lock_guard lock{mutex_};
    if (session_.anything_to_settle() || ends()) return;
    pump_waits_ = true;
  }
  listen(timeout);
  std::lock_guard lock{mutex_};
  look_again_ = look_again_ || hungry_;
}

void Worker::Impl::listen(Millis timeout) {
  auto wake = parts_.tasks().wait_for_work(timeout);
  if (wake == Wake::control) renew_held();
  std::lock_guard lock{mutex_};
  pump_waits_ = pump_gathers_ = false;
  look_again_ = look_again_ || wake != Wake::nothing;
}

bool Worker::Impl::may_gather() const {
  return mode_ == Mode::working && session_.supplied_for(gathering_time);
}

void Worker::Impl::gather() {
  using Steady = std::chrono::steady_clock;
  while (true) {
    Millis left{0};
    {
      std::lock_guard lock{mutex_};
      left = std::chrono::ceil<Millis>(last_step_ + gathering_time - Steady::now());
      if (left <= Millis{0} || !may_gather()) return;
      pump_waits_ = pump_gathers_ = true;
    }
    listen(left);
  }
}

bool Worker::Impl::turn() {
  // What an attempt noted is there before its settlement is. Taken together and sent in this order,
  // no note comes so late that its task is not running any more.
  std::vector<Note> notes;
  std::vector<Settlement> settlements;
  int room = 0;
  bool settling = settles_beside();
  {
    std::lock_guard lock{mutex_};
    notes.swap(notes_);
    if (mode_ == Mode::resting) session_.give_back_waiting();
    if (!settling) settlements = session_.settlements();
    bool may_claim = mode_ == Mode::working && (!hungry_ || look_again_);
    if (may_claim) room = session_.room();
    if (room > 0 && any_paused_ && careful_claim(1, 1).kinds.empty()) room = 0;
    if (room > 0) look_again_ = false;
  }
  try {
    send_notes(notes);
  } catch (const StoreError&) {
    std::lock_guard lock{mutex_};
    notes_.insert(notes_.begin(), std::make_move_iterator(notes.begin()),
                  std::make_move_iterator(notes.end()));
    session_.unsent(std::move(settlements));
    throw;
  }
  if (settling && room < many) {
    wait_for_settling();
    return true;
  }
  if (settlements.empty() && room == 0) return false;
  bool both = std::ssize(settlements) >= many && room >= many;
  if (both && parts_.tasks().exchanges_side_by_side())
    settle_beside(std::exchange(settlements, {}));
  bool more = send(std::move(settlements), room);
  return more || settling_.valid();
}

void Worker::Impl::send_notes(const std::vector<Note>& notes) {
  if (notes.empty()) return;
  auto recorded = parts_.tasks().record(notes);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (recorded[i].accepted) continue;
    parts_.events().emit(
        StaleWriteRefused{notes[i].lease.id, notes[i].lease.token, "progress or log line"});
  }
}

bool Worker::Impl::send(std::vector<Settlement> settlements, int claim) {
  Exchange exchange;
  exchange.settle = std::move(settlements);
  auto asked_at = parts_.clock().steady();
  {
    std::lock_guard lock{mutex_};
    last_step_ = std::chrono::steady_clock::now();
    if (claim > 0) {
      exchange.claim = careful_claim(claim, session_.suspect_room(asked_at));
      claim = exchange.claim->limit;
      if (exchange.claim->kinds.empty()) exchange.claim.reset();
    }
  }
  Exchanged answer;
  try {
    answer = perform_exchange(parts_, enlistment()->id(), exchange,
                              [&](const Exchanged& came) { account(exchange.settle, came); });
  } catch (const StoreError&) {
    std::lock_guard lock{mutex_};
    session_.unsent(std::move(exchange.settle));
    throw;
  } catch (const InvalidRequest& error) {
    return send_singly(std::move(exchange.settle), error);
  }
  if (answer.buried) {
    was_buried();
    return true;
  }
  bool got_some = !answer.claimed.empty();
  std::lock_guard lock{mutex_};
  if (exchange.claim) {
    hungry_ = static_cast<int>(answer.claimed.size()) < claim;
    if (any_paused_ && exchange.claim->kinds.size() == 1)
      breaker_.tried(exchange.claim->kinds.front(), got_some, asked_at);
    session_.took(std::move(answer.claimed), asked_at);
    if (got_some) work_ready_.notify_all();
    timer_due_.notify_one();
  }
  return got_some || session_.anything_to_settle() || (!hungry_ && session_.room() > 0);
}

void Worker::Impl::settle_beside(std::vector<Settlement> settlements) {
  settling_ = std::async(std::launch::async, [this, sent = std::move(settlements)]() mutable {
    send(std::move(sent), 0);
  });
}

bool Worker::Impl::settles_beside() {
  if (!settling_.valid()) return false;
  if (settling_.wait_for(Millis{0}) != std::future_status::ready) return true;
  wait_for_settling();
  return false;
}

void Worker::Impl::wait_for_settling() {
  settling_.get();
  std::lock_guard lock{mutex_};
  // What was settled may have made tasks ready that a claim did not see yet.
  look_again_ = look_again_ || hungry_;
}

bool Worker::Impl::send_singly(std::vector<Settlement> settlements, const InvalidRequest& error) {
  if (settlements.empty()) throw error;
  if (settlements.size() == 1) {
    // It asked for a follow-up that cannot be, such as one after a task that does not exist. The
    // next attempt would ask again.
    auto& one = settlements.front();
    if (one.to == TaskState::failed) throw error;
    one = {.lease = one.lease,
           .to = TaskState::failed,
           .reason = fmt::format("a follow-up of it cannot be: {}", error.what()),
           .attempt = one.attempt,
           .kind = std::move(one.kind),
           .name = std::move(one.name)};
    return send(std::move(settlements), 0);
  }
  while (!settlements.empty()) {
    std::vector<Settlement> one;
    one.push_back(std::move(settlements.back()));
    settlements.pop_back();
    try {
      send(std::move(one), 0);
    } catch (const StoreError&) {
      std::lock_guard lock{mutex_};
      session_.unsent(std::move(settlements));
      throw;
    }
  }
  return true;
}

void Worker::Impl::account(const std::vector<Settlement>& sent, const Exchanged& answer) {
  std::lock_guard lock{mutex_};
  session_.settled(sent);
  count_ends(figures_, sent, answer.settled);
  count_claims(figures_, answer.claimed, parts_.clock().wall());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (answer.settled[i] == Settled::refused) {
      ++summary_.refused;
    } else if (sent[i].to == TaskState::completed) {
      ++summary_.completed;
    } else if (sent[i].was_attempt) {
      ++summary_.failed_attempts;
    } else {
      ++summary_.given_back;
    }
  }
}

Millis Worker::Impl::time_to_wait() {
  auto wait = longest_wait;
  ClaimRequest request;
  {
    std::lock_guard lock{mutex_};
    if (!notes_.empty() || session_.anything_to_settle()) return Millis{0};
    if (session_.room() == 0 || mode_ == Mode::resting) return wait;
    request = careful_claim(1, 1);
    if (auto next = breaker_.next_try())
      wait = std::clamp(*next - parts_.clock().steady(), Millis{1}, wait);
    if (request.kinds.empty()) return wait;
  }
  try {
    auto due = parts_.tasks().next_due(request);
    auto now = parts_.clock().wall();
    if (due) wait = *due <= now ? not_yet_wait : std::min(wait, *due - now);
  } catch (const StorageFailed&) {
    throw;
  } catch (const StoreError& error) {
    trouble("looking for the next task", error);
  }
  return wait;
}

bool Worker::Impl::nothing_left() {
  ClaimRequest request;
  {
    std::lock_guard lock{mutex_};
    if (!session_.idle()) return false;
    if (mode_ == Mode::working && (!hungry_ || look_again_)) return false;
    request = claim_request(1, 1);
  }
  // What is past its time by a clock that can be set is only taken back at a second look, which a
  // process that ends now, and others that run as briefly, would never have.
  if (watch_.look_again() != Millis::max()) return false;
  return !parts_.tasks().next_due(request);
}

void Worker::Impl::was_buried() {
  std::vector<JobPtr> lost;
  {
    std::lock_guard lock{mutex_};
    lost = session_.lose_everything(parts_.clock().steady());
  }
  stop(lost);
  if (!lost.empty()) parts_.events().emit(LeasesAbandoned{enlistment_->id(), lost.size()});
  enlist();
}

void Worker::Impl::finish() {
  auto clock = [&] { return parts_.clock().steady(); };
  auto patience = options_.drain_timeout.value_or(settings_.worker.drain_timeout);
  auto until = patience == without_limit ? patience : clock() + patience;
  bool asked_to_stop = false;
  while (true) {
    std::vector<JobPtr> to_stop;
    {
      std::unique_lock lock{mutex_};
      mode_ = std::max(mode_, Mode::draining);
      session_.give_back_waiting();
      if (mode_ == Mode::hurrying && !asked_to_stop) until = clock();
      bool handlers_done = session_.running() == 0;
      if (!handlers_done && clock() >= until) {
        if (asked_to_stop) {
          session_.abandon_running();
        } else {
          asked_to_stop = true;
          until = clock() + settings_.worker.stop_grace;
          to_stop = session_.stop_all(StopCause::shutdown, clock());
        }
      }
      if (session_.idle() && notes_.empty()) break;
    }
    stop(to_stop);
    try {
      if (!turn())
        parts_.tasks().wait_for_work(std::clamp(until - clock(), Millis{1}, Millis{100}));
    } catch (const StorageFailed&) {
      throw;
    } catch (const StoreError& error) {
      // What could not be given back, recovery takes back.
      trouble("giving back unfinished tasks", error);
      if (clock() >= until) break;
      parts_.tasks().wait_for_work(trouble_wait);
    }
  }
}

}  // namespace holdfast
