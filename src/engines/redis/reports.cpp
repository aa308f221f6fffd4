#include "engines/redis/reports.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "recovery/bare_report.hpp"

namespace holdfast::redis {

namespace {

constexpr Store::KillPoints report_points{KillPoint::report_before_commit,
                                          KillPoint::report_after_commit};
constexpr std::int64_t reports_a_read = 5'000;

constexpr const char* nobody_says =
    "There is no proof that it is still at work: this user of the Redis server may not list "
    "connections (client|list).";

std::string hold_name(ReportId report) { return "holdfast-report-" + report.text(); }

/// A connection with the report's name: the kernel closes it with the process.
class NamedConnection final : public ReportHold {
 public:
  explicit NamedConnection(std::unique_ptr<Connection> connection)
      : connection_{std::move(connection)} {}
  ~NamedConnection() override { connection_->hang_up(); }

 private:
  std::unique_ptr<Connection> connection_;
};

/// A hash as the server lists it: name, value, name, value.
std::map<std::string, std::string, std::less<>> read_hash(const Value& list) {
  std::map<std::string, std::string, std::less<>> hash;
  for (std::size_t i = 0; i + 1 < list.size(); i += 2)
    hash[list[i].string()] = list[i + 1].string();
  return hash;
}

template <class Hash>
OrphanCounts read_counts(const Hash& hash) {
  auto number = [&](std::string_view name) {
    auto found = hash.find(name);
    return found == hash.end() ? 0 : parse_number(found->second);
  };
  OrphanCounts counts;
  counts.pending = number("pending");
  counts.failed = number("failed");
  counts.held = number("held");
  counts.cancelled = number("cancelled");
  counts.not_taken = number("not_taken");
  return counts;
}

RecoveredTask read_entry(std::string_view text, RecoveryAction action) {
  auto parts = split(text, 7);
  RecoveredTask task;
  task.id = TaskId::parse(parts[0]).value_or(TaskId{});
  task.action = action;
  task.now = static_cast<TaskState>(parse_number(parts[1]));
  task.attempt = static_cast<int>(parse_number(parts[2]));
  task.max_attempts = static_cast<int>(parse_number(parts[3]));
  task.worker = WorkerId::parse(parts[4]);
  task.error = parts[5];
  task.success = task.error.empty();
  task.reason = parts[6];
  return task;
}

DeadWorker read_dead_worker(std::string_view id, std::string_view text) {
  auto parts = split(text, 5);
  return {
      WorkerId::parse(id).value_or(WorkerId{}), parts[0], static_cast<int>(parse_number(parts[1])),
      wall_time(parse_number(parts[2])),        parts[4], parts[3]};
}

}  // namespace

std::unique_ptr<ReportHold> RedisReports::hold(ReportId report) {
  auto connection = store_.server.connect();
  connection->expect({"CLIENT", "SETNAME", hold_name(report)}, "cannot name a connection");
  return std::make_unique<NamedConnection>(std::move(connection));
}

std::optional<bool> RedisReports::is_held(ReportId report) {
  try {
    auto clients = store_.server.call({"CLIENT", "LIST"});
    return clients.text().find(" name=" + hold_name(report) + " ") != std::string_view::npos;
  } catch (const Disconnected&) {
    throw;
  } catch (const StoreError&) {
    return {};  // who may not ask does not know
  }
}

RecoveryReport RedisReports::complete(const ReportHead& head, const RecoveryReport& end) {
  auto arguments = store_.arguments();
  arguments.add(head).add(to_json(bare_report(end))).add(end.tasks.size());
  for (const auto& task : end.tasks) {
    arguments.add(task.id.text()).add(task.now).add(task.attempt).add(task.max_attempts);
    arguments.add(task.worker ? task.worker->text() : std::string{}).add(task.reason);
    arguments.add(task.error);
  }
  arguments.add(reports_kept).add(report_entries_kept);
  store_.run(report_points, scripts::complete_report, arguments);
  return read(head.id.text(), std::numeric_limits<int>::max()).value_or(end);
}

std::optional<RecoveryReport> RedisReports::read(const std::string& id, int tasks) {
  auto key = store_.keys.key("report:" + id);
  std::array commands{Command{"HGETALL", key}, Command{"HGETALL", key + ":workers"}};
  auto replies = store_.server.call_all(commands);
  auto hash = read_hash(replies[0]);
  if (!hash.contains("text")) return {};
  auto report = report_from_json(hash["text"]);
  report.id = ReportId::parse(id).value_or(ReportId{});
  if (!hash.contains("complete")) {
    report.completed_at = wall_time(parse_number(hash["at"]));
    report.duration = std::max(report.completed_at - report.started_at, Millis{0});
  }
  report.orphans = read_counts(hash);
  report.stale_writes_refused = static_cast<int>(parse_number(hash["refused"]));
  report.stale_writes_refused_ever = parse_number(hash["refused_ever"]);
  for (const auto& [worker, text] : read_hash(replies[1]))
    report.dead_workers.push_back(read_dead_worker(worker, text));
  auto wanted = std::min<std::int64_t>(tasks, report.orphans.all());
  while (std::ssize(report.tasks) < wanted) {
    auto first = std::ssize(report.tasks);
    auto last = std::min(wanted, first + reports_a_read) - 1;
    auto entries =
        store_.server.call({"LRANGE", key + ":tasks", std::to_string(first), std::to_string(last)});
    if (entries.size() == 0) break;
    for (std::size_t i = 0; i < entries.size(); ++i)
      report.tasks.push_back(read_entry(entries[i].text(), report.action));
  }
  return report;
}

std::vector<RecoveryReport> RedisReports::newest(int count, int tasks_of_each) {
  std::vector<RecoveryReport> reports;
  if (count <= 0) return reports;
  auto ids =
      store_.server.call({"ZREVRANGE", store_.keys.key("reports"), "0", std::to_string(count - 1)});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto id = ids[i].string();
    auto report = read(id, tasks_of_each);
    if (report && report->state == ReportState::running) {
      auto held = is_held(report->id);
      // It may have been completed since we read it; if it still is not, it never will be.
      if (held == false) report = read(id, tasks_of_each);
      if (report && report->state == ReportState::running) {
        if (held == false) report->state = ReportState::interrupted;
        if (!held) report->errors.emplace_back(nobody_says);
      }
    }
    if (report) reports.push_back(std::move(*report));
  }
  return reports;
}

RecoveryTotals RedisReports::totals() {
  auto hash = read_hash(store_.server.call({"HGETALL", store_.keys.key("totals")}));
  RecoveryTotals totals;
  totals.orphans = read_counts(hash);
  totals.recoveries = parse_number(hash["runs"]);
  totals.dead_workers = parse_number(hash["dead_workers"]);
  totals.stale_writes_refused = parse_number(hash["refused"]);
  return totals;
}

}  // namespace holdfast::redis
