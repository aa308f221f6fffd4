#include <algorithm>

#include "engines/redis/dependents.hpp"
#include "engines/redis/task_record.hpp"
#include "engines/redis/task_store.hpp"
#include "recovery/actors.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints renew_points{KillPoint::renew_before_commit,
                                         KillPoint::renew_after_commit};
constexpr Store::KillPoints reclaim_points{KillPoint::reclaim_before_commit,
                                           KillPoint::reclaim_after_commit};

/// Nobody else is served while a script runs, so each has a small part of the work.
constexpr std::size_t leases_a_script = 1'000;
constexpr std::size_t verdicts_a_script = 100;
constexpr std::size_t tasks_a_read = 1'000;

/// What is needed of a task's body is in its first bytes.
constexpr const char* end_of_beginning = "255";

/// What the script answers for each, and how it says that a lease ends too late.
constexpr std::size_t values_an_orphan = 4;
constexpr std::int64_t ahead_of_its_clock = 2;

const Command orphan_fields{"y", "v", "x", "u"};

/// Nothing if it is not running any more, or not for the same worker.
std::optional<Orphan> read_orphan(TaskId id, std::string_view worker, std::int64_t expired,
                                  const std::optional<RowText>& row, const Value& more,
                                  const Value& body_begins) {
  if (!row || row->state != TaskState::running || row->worker != worker) return {};
  auto body = parse_body(body_begins.text());
  Orphan orphan;
  orphan.lease = {id, row->token};
  orphan.worker = WorkerId::parse(worker).value_or(WorkerId{});
  orphan.expired = expired != 0;
  orphan.ahead = expired == ahead_of_its_clock;
  orphan.attempt = row->attempt;
  orphan.max_attempts = body.max_attempts;
  orphan.crashes = static_cast<int>(more[0].number());
  orphan.recoveries = static_cast<int>(more[1].number());
  orphan.cancel_requested = !more[2].is_nil();
  orphan.suspect = !more[3].is_nil();
  orphan.backoff = body.backoff;
  orphan.kind = parse_lane(row->lane).kind;
  return orphan;
}

}  // namespace

std::vector<Renewal> RedisTaskStore::renew(std::span<const Lease> leases, Millis length) {
  std::vector<Renewal> renewals;
  while (!leases.empty()) {
    auto some = leases.first(std::min(leases.size(), leases_a_script));
    leases = leases.subspan(some.size());
    auto arguments = store_.arguments();
    arguments.add(length).add(some.size());
    for (const auto& lease : some) arguments.add(lease);
    auto answer = store_.run(renew_points, scripts::renew, arguments);
    for (std::size_t i = 0; i < answer.size(); ++i)
      renewals.push_back(static_cast<Renewal>(answer[i].number()));
  }
  return renewals;
}

std::vector<Orphan> RedisTaskStore::orphans(int limit, std::span<const WorkerId> as_if_buried) {
  auto arguments = store_.arguments();
  arguments.add(limit).add(as_if_buried.size());
  for (const auto& worker : as_if_buried) arguments.add(worker.text());
  auto found = store_.run(scripts::orphans, arguments);
  std::vector<Orphan> orphans;
  for (std::size_t first = 0; first < found.size(); first += values_an_orphan * tasks_a_read) {
    auto end = std::min(first + values_an_orphan * tasks_a_read, found.size());
    std::vector<std::string> ids;
    std::vector<Command> reads;
    for (auto at = first; at < end; at += values_an_orphan) {
      ids.push_back(found[at].string());
      Command read{"HMGET", store_.keys.key("t:" + ids.back())};
      read.insert(read.end(), orphan_fields.begin(), orphan_fields.end());
      reads.push_back(std::move(read));
      reads.push_back({"GETRANGE", store_.keys.key("p:" + ids.back()), "0", end_of_beginning});
    }
    reads.push_back(read_rows(store_, ids));
    auto replies = store_.server.call_all(reads);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto at = first + values_an_orphan * i;
      auto id = TaskId::parse(ids[i]);
      if (!id) continue;
      auto orphan = read_orphan(*id, found[at + 1].text(), found[at + 2].number(),
                                parse_row(replies.back()[i]), replies[2 * i], replies[2 * i + 1]);
      if (!orphan) continue;
      orphan->lease_until = Millis{parse_number(found[at + 3].text())};
      orphans.push_back(std::move(*orphan));
    }
  }
  return orphans;
}

/// Verdicts about tasks that are not what they were for who decided are not sent.
std::vector<bool> RedisTaskStore::reclaim_some(std::span<const Verdict> verdicts,
                                               const ReportHead& report) {
  std::vector<TaskId> ids;
  for (const auto& verdict : verdicts) ids.push_back(verdict.lease.id);
  auto looked = look_at(store_, ids);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const auto& task = looked[i];
    if (task && task->row.state == TaskState::running &&
        task->row.token == verdicts[i].lease.token &&
        task->row.cancel_requested == verdicts[i].cancel_requested)
      places.push_back(i);
  }
  std::vector<bool> done(verdicts.size());
  if (places.empty()) return done;
  auto arguments = store_.arguments();
  arguments.add(report).add(places.size());
  for (auto place : places) {
    const auto& verdict = verdicts[place];
    arguments.add(verdict.expired).add(verdict.lease_until).add(verdict.reason);
    arguments.add(verdict.lease.id.text());
    add(arguments, lifecycle::reclaim(looked[place]->row, verdict, when_written), actors::recovery);
  }
  auto answer = store_.run(reclaim_points, scripts::reclaim, arguments);
  for (std::size_t i = 0; i < places.size(); ++i) done[places[i]] = answer[0][i].number() == 1;
  end_dependents(store_, read_dependents(answer, answer[1]), dependents_of_a_step);
  return done;
}

std::vector<bool> RedisTaskStore::reclaim(std::span<const Verdict> verdicts,
                                          const ReportHead& report) {
  std::vector<bool> done;
  while (!verdicts.empty()) {
    auto some = verdicts.first(std::min(verdicts.size(), verdicts_a_script));
    verdicts = verdicts.subspan(some.size());
    auto answers = reclaim_some(some, report);
    done.insert(done.end(), answers.begin(), answers.end());
  }
  return done;
}

}  // namespace holdfast::redis
