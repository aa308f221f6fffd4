#include "engines/redis/task_store.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints exchange_points{KillPoint::exchange_before_commit,
                                            KillPoint::exchange_after_commit};

bool is_plain(const Settlement& one) {
  return one.to == TaskState::completed && one.result.empty() && one.reason.empty() &&
         one.was_attempt && one.follow_ups.empty();
}

void add(Arguments& arguments, const Settlement& one) {
  arguments.add(one.lease);
  if (is_plain(one)) {
    arguments.add(one.attempt);
    return;
  }
  arguments.add(std::string{}).add(one.to).add(one.result).add(one.reason).add(one.attempt);
  arguments.add(one.was_attempt).add(one.delay).add(one.follow_ups.size());
  for (const auto& task : one.follow_ups) arguments.add(task);
}

void add(Arguments& arguments, const ClaimRequest& claim, const std::string& number,
         const std::vector<std::string>& unanswered) {
  arguments.add(claim.worker.text()).add(claim.limit).add(claim.max_suspects).add(claim.lease);
  arguments.add(claim.queues).add(claim.kinds).add(number).add(unanswered);
}

Claimed read_claimed(const Value& list, std::size_t first) {
  Claimed claimed;
  claimed.lease = {TaskId::parse(list[first].text()).value_or(TaskId{}),
                   Token{list[first + 1].number()}};
  auto lane = parse_lane(list[first + 2].text());
  claimed.queue = std::move(lane.queue);
  claimed.kind = std::move(lane.kind);
  claimed.attempt = static_cast<int>(list[first + 3].number());
  claimed.suspect = list[first + 4].number() == 1;
  auto body = parse_body(list[first + 5].text());
  claimed.max_attempts = body.max_attempts;
  claimed.timeout = body.timeout;
  claimed.backoff = body.backoff;
  claimed.payload = std::move(body.payload);
  return claimed;
}

Exchanged read_exchanged(const Value& answer) {
  expect_valid(answer, {});
  Exchanged exchanged;
  for (std::size_t i = 0; i < answer[1].size(); ++i)
    exchanged.settled.push_back(static_cast<Settled>(answer[1][i].number()));
  exchanged.buried = answer[2].number() == 1;
  constexpr std::size_t values_each = 6;
  exchanged.claimed.reserve(answer[3].size() / values_each);
  for (std::size_t i = 0; i + values_each <= answer[3].size(); i += values_each)
    exchanged.claimed.push_back(read_claimed(answer[3], i));
  return exchanged;
}

}  // namespace

Exchanged RedisTaskStore::exchange(const Exchange& exchange) {
  auto arguments = store_.arguments();
  arguments.add(exchange.settle.size());
  for (const auto& one : exchange.settle) add(arguments, one);
  if (!exchange.claim) {
    arguments.add(std::string{});
    return read_exchanged(store_.run(exchange_points, scripts::exchange, arguments));
  }
  const auto& claim = *exchange.claim;
  std::vector<std::string> unanswered;
  std::string number;
  {
    std::lock_guard lock{mutex_};
    number = std::to_string(++claims_);
    if (auto found = unanswered_.extract(claim.worker)) unanswered = std::move(found.mapped());
  }
  add(arguments, claim, number, unanswered);
  try {
    return read_exchanged(store_.run(exchange_points, scripts::exchange, arguments));
  } catch (const StoreError&) {
    std::lock_guard lock{mutex_};
    auto& all = unanswered_[claim.worker];
    all.insert(all.end(), unanswered.begin(), unanswered.end());
    all.push_back(number);
    throw;
  }
}

}  // namespace holdfast::redis
