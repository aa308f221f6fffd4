// Measures the dashboard on a store with many tasks, on SQLite and on PostgreSQL:
//
//     holdfast_dashboard_bench [TASKS] [FOLDER]
//
// Asks everything that its pages ask, each several times, and prints how long the slowest took, and
// the one in the middle; then how soon a page is seen in Chromium, where there is one.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "many_tasks.hpp"
#include "scratch.hpp"
#include "served_store.hpp"
#include "server/wire_call.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"

namespace holdfast::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int times = 5;
constexpr double allowed_ms = 100;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>{Clock::now() - begin}.count();
}

struct Question {
  std::string target;
  /// It looks into tasks, for which there is no index, until its time is up: a quarter of a second.
  bool looks_inside = false;
};

/// Everything that the pages ask for, with every filter that the page of tasks has.
std::vector<Question> questions(const std::string& task) {
  std::vector<Question> all;
  for (const char* target :
       {"/v1/stores", "/v1/health", "/v1/queues", "/v1/metrics/kinds",
        "/v1/metrics/history?seconds=3600", "/v1/workers", "/v1/recovery",
        "/v1/recovery/reports?limit=20&tasks=100", "/v1/http/stats", "/v1/http/requests?limit=200",
        "/v1/batches?limit=200", "/v1/transactions?limit=200", "/v1/schedules", "/v1/limits",
        "/v1/settings", "/metrics"})
    all.push_back({target});
  for (const auto& end : {"", "/logs", "/explain"}) all.push_back({"/v1/tasks/" + task + end});
  for (const char* state :
       {"pending", "running", "completed", "failed", "cancelled", "blocked", "held"}) {
    all.push_back({fmt::format("/v1/tasks?limit=50&state={}", state)});
    all.push_back({fmt::format("/v1/tasks/count?state={}", state)});
  }
  for (const char* filter : {"", "queue=queue-3", "kind=good-3", "kind=bad&state=failed",
                             "tag=tenth", "priority=2", "since=2026-01-01T00:00:00Z"}) {
    all.push_back({fmt::format("/v1/tasks?limit=50&{}", filter)});
    all.push_back({fmt::format("/v1/tasks/count?{}", filter)});
  }
  all.push_back({"/v1/tasks?limit=50&id=" + task});
  for (const char* filter : {"error=route", "error=nothing-has-this", "kind=there-is-none",
                             "payload_field=customer.id&payload_value=777"})
    all.push_back({fmt::format("/v1/tasks?limit=50&{}", filter), true});
  return all;
}

struct Answered {
  Question question;
  double middle_ms = 0, slowest_ms = 0;
};

std::vector<Answered> ask_everything(const ServedStore& served, const std::string& task) {
  test::Wire wire{served.port()};
  std::vector<Answered> all;
  for (auto& question : questions(task)) {
    const auto text = served.request("GET", question.target);
    std::vector<double> took;
    for (int i = 0; i < times; ++i) {
      const auto begin = Clock::now();
      wire.send(text);
      const auto answer = wire.answer();
      took.push_back(milliseconds_since(begin));
      if (answer.status == 200) continue;
      fmt::print(stderr, "{}: {} {}\n", question.target, answer.status, answer.body);
      std::exit(1);
    }
    std::ranges::sort(took);
    all.push_back({std::move(question), took[times / 2], took.back()});
  }
  std::ranges::sort(all, std::greater{}, &Answered::slowest_ms);
  return all;
}

void print(const std::vector<Answered>& all) {
  auto slow = all;
  std::erase_if(slow, [](const auto& each) { return each.question.looks_inside; });
  fmt::print("  {} questions, {} times each; slowest {:.1f} ms, allowed {:.0f} ms: {}\n",
             all.size(), times, slow.front().slowest_ms, allowed_ms,
             slow.front().slowest_ms <= allowed_ms ? "met" : "missed");
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 12); ++i)
    fmt::print("  {:7.1f} ms, mostly {:.1f} ms  {}{}\n", all[i].slowest_ms, all[i].middle_ms,
               all[i].question.target,
               all[i].question.looks_inside ? "  (looks into tasks until its time is up)" : "");
}

/// Not found, not installed or not able to: then it is left out, and said so.
void paint(const ServedStore& served) {
  if (!std::filesystem::exists(BROWSER_PACKAGES "/node_modules/playwright-core")) {
    fmt::print("  first paint: not measured, because playwright-core is not installed\n");
    return;
  }
  const auto done =
      test::run({"/usr/bin/env", "node", FIRST_PAINT, served.url(), BROWSER_PACKAGES});
  if (done.ending.ok())
    fmt::print("{}", done.out);
  else
    fmt::print("  first paint: not measured, because there is no Chromium that works: {}\n",
               done.err.substr(0, 200));
}

void measure(const std::string& name, const Engine& engine, std::int64_t tasks,
             const std::filesystem::path& folder) {
  fmt::print("{}\n", name);
  auto begin = Clock::now();
  fill(engine, tasks);
  fmt::print("  {} tasks made and worked off in {:.1f} s\n", tasks,
             milliseconds_since(begin) / 1'000);
  begin = Clock::now();
  Inspector{engine}.queues();
  fmt::print("  counting all by queue and state, which is done in the background: {:.1f} ms\n",
             milliseconds_since(begin));
  const auto task = Inspector{engine}.tasks({}, {.limit = 1}).at(0).id.text();
  const ServedStore served{engine, folder, ""};
  test::call(served.port(), "POST", "/v1/remote/workers", R"({"kinds":["waits"]})");
  print(ask_everything(served, task));
  paint(served);
  std::fflush(stdout);
}

void run(std::int64_t tasks, const std::string& parent) {
  const Scratch scratch{parent};
  measure("SQLite", open("sqlite:" + scratch.database()), tasks, scratch.folder() / "sqlite");
  measure("PostgreSQL", open(test::PostgresServer::shared().new_store()), tasks,
          scratch.folder() / "postgres");
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  holdfast::bench::run(argc > 1 ? std::atoll(argv[1]) : 1'000'000, argc > 2 ? argv[2] : ".");
}
