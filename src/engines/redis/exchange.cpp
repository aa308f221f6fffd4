#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_set>

#include "engines/redis/task_store.hpp"
#include "recovery/actors.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints exchange_points{KillPoint::exchange_before_commit,
                                            KillPoint::exchange_after_commit};

/// What plain settlements that are sent together have in common.
struct Alike {
  Token token;
  int attempt = 0;
  bool have_results = false;
  std::size_t follow_ups = 0;
  Record record{};
  std::int64_t left = 0;
  auto operator<=>(const Alike&) const = default;
};

/// Settlements on their way: those that are plain in groups, which mostly is what was claimed
/// together.
class Settling {
 public:
  Settling(Store& store, std::span<const Settlement> settlements, Claims& claims)
      : settlements_{settlements} {
    std::unordered_set<TaskId> named;
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      const auto& one = settlements[i];
      // One that comes twice is looked at a second time.
      if (!lifecycle::is_plain_end(one) || !named.insert(one.lease.id).second) {
        others_.push_back(i);
        continue;
      }
      auto known = claims.take(one.lease);
      Alike alike{one.lease.token,       one.attempt,  !one.result.empty(),
                  one.follow_ups.size(), known.record, known.left};
      groups_[alike].push_back(i);
    }
    if (!others_.empty()) decide(store, claims);
  }

  Sent add_to(Arguments& arguments) const {
    Sent sent;
    sent.decided = decided_;
    auto& order = sent.order;
    arguments.add(groups_.size());
    for (const auto& [alike, places] : groups_) {
      add_group(arguments, alike, places);
      order.insert(order.end(), places.begin(), places.end());
    }
    const auto groups = groups_of_others();
    arguments.add(groups.size());
    for (const auto& group : groups) {
      add(arguments, decided_.at(group.front()).change, actors::dependency);
      arguments.add(settlements_[group.front()].follow_ups.size()).add(group.size());
      for (auto place : group) arguments.add(settlements_[place].lease.id.text());
      order.insert(order.end(), group.begin(), group.end());
    }
    std::vector<const NewTask*> follow_ups;
    bool have_new_ids = true;
    for (auto place : order) {
      const auto& one = settlements_[place];
      have_new_ids = have_new_ids && (one.have_new_ids || one.follow_ups.empty());
      for (const auto& task : one.follow_ups) {
        follow_ups.push_back(&task);
        sent.follow_ups.push_back({place, &task});
        // What waits for others has to find them, even if they are new.
        have_new_ids = have_new_ids && task.options.after.empty();
      }
    }
    add_tasks(arguments, follow_ups, have_new_ids);
    return sent;
  }

 private:
  /// What this process was told of a task need not be looked at: if it has changed, the script sees
  /// that.
  void decide(Store& store, Claims& claims) {
    std::vector<std::size_t> unknown;
    std::vector<TaskId> ids;
    for (auto place : others_) {
      const auto& lease = settlements_[place].lease;
      if (const auto record = claims.take(lease).record) {
        decide_for(place, looked_from_record(lease.id, *record));
      } else {
        unknown.push_back(place);
        ids.push_back(lease.id);
      }
    }
    if (unknown.empty()) return;
    const auto looked = look_at(store, ids);
    for (std::size_t i = 0; i < unknown.size(); ++i) decide_for(unknown[i], looked[i]);
  }

  void decide_for(std::size_t place, const std::optional<LookedTask>& task) {
    const auto& one = settlements_[place];
    const bool is_held =
        task && task->row.state == TaskState::running && task->row.token == one.lease.token;
    // Of one that is not held any more the script only sees which claim is meant.
    const TaskRow row =
        is_held
            ? task->row
            : TaskRow{.id = one.lease.id, .state = TaskState::running, .token = one.lease.token};
    decided_.emplace(place, Decided{task ? task->kind : std::string{},
                                    lifecycle::settle(row, one, when_written)});
  }

  /// What was claimed together and ends for the same reason mostly changes in the same way.
  std::vector<std::vector<std::size_t>> groups_of_others() const {
    std::vector<std::vector<std::size_t>> groups;
    for (auto place : others_) {
      const bool alike =
          !groups.empty() &&
          same_change(decided_.at(groups.back().front()).change, decided_.at(place).change) &&
          settlements_[groups.back().front()].follow_ups.size() ==
              settlements_[place].follow_ups.size();
      if (alike)
        groups.back().push_back(place);
      else
        groups.push_back({place});
    }
    return groups;
  }

  void add_group(Arguments& arguments, const Alike& alike,
                 const std::vector<std::size_t>& places) const {
    arguments.add(alike.token.value).add(alike.attempt).add(alike.have_results);
    arguments.add(alike.follow_ups).add(alike.record ? *alike.record : "").add(alike.left);
    arguments.add(places.size());
    for (auto place : places) arguments.add(settlements_[place].lease.id.text());
    if (!alike.have_results) return;
    for (auto place : places) arguments.add(settlements_[place].result);
  }

  std::span<const Settlement> settlements_;
  std::map<Alike, std::vector<std::size_t>> groups_;
  std::vector<std::size_t> others_;
  std::map<std::size_t, Decided> decided_;
};

void add(Arguments& arguments, const ClaimRequest& claim, const std::string& number,
         const std::vector<std::string>& unanswered) {
  arguments.add(claim.worker.text()).add(claim.limit).add(claim.max_suspects).add(claim.lease);
  arguments.add(claim.queues).add(claim.kinds).add(number).add(unanswered);
}

/// Tasks of one record are settled by commands of their own. Reading the records of few costs less.
constexpr std::size_t worth_remembering = 16;

/// A run of tasks that were claimed alike.
void read_claimed(const Value& list, std::size_t first, std::vector<Claimed>& claimed,
                  Claims& claims) {
  Claimed alike;
  alike.lease.token = Token{list[first].number()};
  auto lane = parse_lane(list[first + 1].text());
  alike.queue = std::move(lane.queue);
  alike.kind = std::move(lane.kind);
  alike.attempt = static_cast<int>(list[first + 2].number());
  alike.suspect = list[first + 3].number() == 1;
  // Not before a time, or since its insertion, which is in its order.
  alike.ready_at = wall_time(list[first + 4].number() % one_priority);
  auto record = list[first + 5].text();
  auto run = list[first + 6];
  auto before = claimed.size();
  for (std::size_t i = 0; i + 1 < run.size(); i += 2) {
    auto& one = claimed.emplace_back(alike);
    one.lease.id = TaskId::parse(run[i].text()).value_or(TaskId{});
    auto body = parse_body(run[i + 1].text());
    one.max_attempts = body.max_attempts;
    one.timeout = body.timeout;
    one.backoff = body.backoff;
    one.payload = std::move(body.payload);
  }
  auto tasks = std::span{claimed}.subspan(before);
  bool worth_it = !record.empty() && tasks.size() >= worth_remembering;
  claims.took(alike.lease.token, worth_it ? std::make_shared<const std::string>(record) : nullptr,
              tasks);
}

/// Follow-ups that were created, of settlements that were accepted.
void read_created(const Value& others, const Sent& sent, WallTime now, Exchanged& exchanged) {
  std::vector<TaskId> ids;
  for (const auto& one : sent.follow_ups) ids.push_back(*one.task->options.id);
  auto inserted = read_inserted(ids, others);
  for (std::size_t i = 0; i < inserted.size(); ++i) {
    const auto& [of, task] = sent.follow_ups[i];
    if (exchanged.settled[of] != Settled::accepted || !inserted[i].created) continue;
    Transition step{{}, inserted[i].state, "client", {}, {}, 0, now};
    exchanged.also.push_back({inserted[i].id, task->kind, std::move(step)});
  }
}

/// What became otherwise than asked of those that were decided.
void tell_of_decided(const Exchange& exchange, const Sent& sent, WallTime now,
                     Exchanged& exchanged) {
  for (const auto& [place, decided] : sent.decided)
    if (exchanged.settled[place] == Settled::accepted &&
        decided.change.to != exchange.settle[place].to)
      exchanged.also.push_back(told(decided.kind, decided.change, now));
}

constexpr std::int64_t to_decide_again = 3;

/// Those that are to be decided again are refused until then.
Exchanged read_exchanged(const Reply& answer, Sent& sent, Claims& claims) {
  expect_valid(answer, {});
  const auto& order = sent.order;
  Exchanged exchanged;
  exchanged.settled.assign(order.size(), Settled::accepted);
  for (std::size_t i = 0; i + 1 < answer[1].size(); i += 2) {
    const auto place = order.at(static_cast<std::size_t>(answer[1][i].number()));
    const auto how = answer[1][i + 1].number();
    if (how == to_decide_again) sent.again.push_back(place);
    exchanged.settled[place] =
        how == to_decide_again ? Settled::refused : static_cast<Settled>(how);
  }
  exchanged.buried = answer[2].number() == 1;
  constexpr std::size_t values_each = 7;
  for (std::size_t i = 0; i + values_each <= answer[3].size(); i += values_each)
    read_claimed(answer[3], i, exchanged.claimed, claims);
  auto now = wall_time(answer[6].number());
  if (!sent.follow_ups.empty()) read_created(answer[4], sent, now, exchanged);
  sent.dependents = read_dependents(answer, answer[5]);
  return exchanged;
}

}  // namespace

Exchanged RedisTaskStore::send(const Exchange& exchange, Arguments& arguments, Sent& sent) {
  try {
    auto answer = store_.run(exchange_points, scripts::exchange, arguments);
    auto exchanged = read_exchanged(answer, sent, claims_);
    tell_of_decided(exchange, sent, wall_time(answer[6].number()), exchanged);
    claims_.settled(exchange.settle, exchanged.settled);
    return exchanged;
  } catch (const StoreError&) {
    claims_.unanswered(exchange.settle);
    throw;
  }
}

Exchanged RedisTaskStore::exchange(const Exchange& exchange) {
  Sent sent;
  auto exchanged = exchange_once(exchange, sent);
  try {
    settle_again(exchange, sent, exchanged);
    end_dependents_of(exchange, sent, exchanged);
  } catch (const StoreError&) {
    if (exchange.claim) remember_unanswered(exchange.claim->worker, sent.claim_numbers);
    throw;
  }
  return exchanged;
}

void RedisTaskStore::settle_again(const Exchange& exchange, Sent& sent, Exchanged& exchanged) {
  auto again = std::move(sent.again);
  for (int round = 0; !again.empty(); ++round) {
    if (round == most_decisions)
      throw StoreError{"tasks change too quickly to be settled; try again"};
    Exchange rest;
    for (auto place : again) rest.settle.push_back(exchange.settle[place]);
    Sent next;
    auto more = exchange_once(rest, next);
    std::vector<std::size_t> left;
    for (auto place : next.again) left.push_back(again[place]);
    for (std::size_t i = 0; i < again.size(); ++i) exchanged.settled[again[i]] = more.settled[i];
    std::ranges::move(more.also, std::back_inserter(exchanged.also));
    again = std::move(left);
    sent.dependents = std::move(next.dependents);
  }
}

void RedisTaskStore::end_dependents_of(const Exchange& exchange, Sent& sent, Exchanged& exchanged) {
  auto changed = end_dependents(store_, std::move(sent.dependents), dependents_of_a_step);
  const bool any_ready = std::ranges::any_of(
      changed, [](const auto& one) { return one.transition.to == TaskState::pending; });
  std::ranges::move(changed, std::back_inserter(exchanged.also));
  if (!exchange.claim || exchanged.buried || !any_ready) return;
  auto claim = *exchange.claim;
  claim.limit -= static_cast<int>(exchanged.claimed.size());
  claim.max_suspects -=
      static_cast<int>(std::ranges::count(exchanged.claimed, true, &Claimed::suspect));
  if (claim.limit <= 0) return;
  Sent next;
  auto more = exchange_once({.settle = {}, .claim = claim}, next);
  exchanged.buried = more.buried;
  std::ranges::move(more.claimed, std::back_inserter(exchanged.claimed));
}

void RedisTaskStore::remember_unanswered(WorkerId worker, const std::vector<std::string>& numbers) {
  std::lock_guard lock{mutex_};
  auto& all = unanswered_[worker];
  all.insert(all.end(), numbers.begin(), numbers.end());
}

Exchanged RedisTaskStore::exchange_once(const Exchange& exchange, Sent& sent) {
  const Settling settling{store_, exchange.settle, claims_};
  auto arguments = store_.arguments();
  sent = settling.add_to(arguments);
  if (!exchange.claim) {
    arguments.add("");
    return send(exchange, arguments, sent);
  }
  const auto& claim = *exchange.claim;
  std::vector<std::string> unanswered;
  std::string number;
  {
    std::lock_guard lock{mutex_};
    number = std::to_string(++last_number_);
    if (auto found = unanswered_.extract(claim.worker)) unanswered = std::move(found.mapped());
  }
  add(arguments, claim, number, unanswered);
  sent.claim_numbers = unanswered;
  sent.claim_numbers.push_back(number);
  try {
    return send(exchange, arguments, sent);
  } catch (const StoreError&) {
    remember_unanswered(claim.worker, sent.claim_numbers);
    throw;
  }
}

}  // namespace holdfast::redis
