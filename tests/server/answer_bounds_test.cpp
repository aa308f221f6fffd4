#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <boost/json/serialize.hpp>

#include <holdfast/batches.hpp>
#include <holdfast/http/client.hpp>
#include <holdfast/limit.hpp>
#include <holdfast/schedule.hpp>
#include <holdfast/state_machine.hpp>
#include <holdfast/transaction_inspector.hpp>
#include <holdfast/worker.hpp>

#include "recovery/clock.hpp"
#include "server/page.hpp"
#include "server/point.hpp"
#include "server/server_under_test.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/reserved.hpp"
#include "transactions/dead_letters.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::test {
namespace {

using testing::IsEmpty;

/// How a route is asked, and how its answer ends.
struct Question {
  std::string target;
  std::string list{};  ///< of which an answer has a page; empty: an answer has everything
  std::string cursor = "next_cursor";
  std::string parameter = "cursor";
};

/// A store and a server that have so much of everything that each list has several pages.
class AnswerBounds : public testing::Test {
 protected:
  static std::string text(std::size_t bytes, char letter = 'x') {
    return std::string(bytes, letter);
  }
  static std::string json_text(std::size_t bytes) { return '"' + text(bytes) + '"'; }
  static std::string name(int number) { return fmt::format("{:05}-{}", number, text(150)); }
  EngineParts& parts() { return server_.engine().parts(); }

  std::unique_ptr<Enlistment> enlist(const std::string& kind) {
    WorkerProfile profile;
    profile.kinds = {kind};
    profile.concurrency = 2'000;
    profile.lease = std::chrono::hours{1};
    return parts().workers().enlist(profile);
  }
  void fill_queues() {
    std::vector<NewTask> tasks;
    for (int i = 0; i < 4'000; ++i)
      tasks.push_back({"k", i < 600 ? json_text(1'990) : "{}", {.queue = name(i)}});
    Tasks{server_.engine()}.enqueue_all(std::move(tasks));
  }
  void fill_limits() {
    std::vector<Limit> limits;
    for (int i = 0; i < 4'000; ++i)
      limits.push_back({.scope = LimitScope::key, .name = name(i), .max_running = 1});
    parts().limits().set(limits);
    Schedules schedules{server_.engine()};
    for (int i = 0; i < 30; ++i)
      schedules.add({.name = fmt::format("s-{}", i),
                     .cron = "0 3 * * *",
                     .task = {"clean", json_text(60'000)}});
  }
  void fill_tokens() {
    std::vector<std::string> patterns;
    for (int i = 0; i < 100; ++i) patterns.push_back(name(i));
    for (int i = 0; i < 50; ++i)
      server_.new_token(
          {.scopes = {server::Scope::enqueue}, .queues = patterns, .kinds = patterns});
    for (int i = 0; i < 700; ++i)
      server_.service().audit().note({.at = system_clock().wall(), .details = text(2'000)}, "x");
  }
  void fill_workers() {
    std::string kinds;
    for (int i = 0; i < 200; ++i) kinds += fmt::format(",\"{}\"", name(i));
    const auto body = "{\"kinds\":[" + kinds.substr(1) + "]}";
    for (int i = 0; i < 50; ++i) ASSERT_EQ(server_.post("/v1/remote/workers", body).status, 201);
  }
  void fill_reports() {
    for (int i = 0; i < 60; ++i) {
      const ReportHead head{.id = ReportId::make(), .started_at = system_clock().wall()};
      RecoveryReport report{.id = head.id};
      report.errors.assign(20, text(2'000));
      const auto hold = parts().reports().hold(head.id);
      parts().reports().complete(head, report);
    }
  }
  void fill_task() {
    task_ = server_.enqueue("noted");
    auto inspector = server_.inspector();
    for (int i = 0; i < 100; ++i) {
      inspector.hold({.ids = {task_}}, text(15'000));
      inspector.retry({.ids = {task_}});
    }
    const auto enlisted = server_.post("/v1/remote/workers", R"({"kinds":["noted"]})").json();
    const auto at = "/v1/remote/workers/" + std::string{enlisted.at("worker").as_string()} + "/";
    const Headers secret{{"Holdfast-Worker-Secret", enlisted.at("secret").as_string().c_str()}};
    const auto claimed = server_.post(at + "claim", "{}", secret).json().at("tasks").at(0);
    const auto note = fmt::format(R"({{"id":"{}","token":{},"log":"{}"}})", task_.text(),
                                  claimed.at("token").as_int64(), text(4'000));
    std::string notes = note;
    for (int i = 1; i < 15; ++i) notes += "," + note;
    for (int i = 0; i < 30; ++i)
      ASSERT_EQ(server_.post(at + "note", "{\"notes\":[" + notes + "]}", secret).status, 200);
  }
  void fill_batches() {
    Batches batches{server_.engine()};
    for (int i = 0; i < 100; ++i)
      batches.submit({.app = "a", .op = "o", .rows = {{1, "{}"}}, .context = json_text(20'000)});
    NewBatch batch{.app = "a", .op = "o"};
    for (int line = 1; line <= 100; ++line) batch.rows.push_back({line, json_text(20'000)});
    batch_ = batches.submit(batch).id.text();
  }
  void fill_transactions() {
    std::vector<TransactionParcel> parcels;
    for (int i = 0; i < 100; ++i) {
      const auto id = fmt::format("t-{}", i);
      start_transaction(server_.engine(), "machine", id, json_text(20'000), {});
      parcels.push_back({.id = transaction_task(id), .row = {.state = "begun", .data = "{}"}});
    }
    for (int i = 0; i < 100; ++i) {
      parcels[0].ledger.push_back({"series", i, json_text(20'000)});
      parcels[0].moves.push_back({.from = "a", .to = "b", .reason = text(20'000)});
    }
    parts().transactions().adopt(parcels);
  }
  void fill_dead_letters() {
    const auto broker = open_broker(server_.engine());
    broker->declare("mail");
    std::vector<Message> messages;
    for (int i = 0; i < 1'200; ++i) messages.push_back({"mail", "x", name(i)});
    messages.push_back({"mail", text(1'000'000), "large"});
    broker->publish(messages);
    const auto consumer = broker->consume({.prefetch = 2'000});
    consumer->listen("mail");
    for (std::size_t taken = 0; taken < messages.size();) {
      const auto news = consumer->receive(std::chrono::seconds{10});
      ASSERT_FALSE(news.deliveries.empty());
      for (const auto& delivery : news.deliveries) consumer->reject(delivery, text(2'000));
      taken += news.deliveries.size();
    }
  }
  /// Requests to as many hosts, some of them done and some in flight.
  void fill_http() {
    std::vector<NewTask> tasks;
    for (int i = 0; i < 1'800; ++i)
      tasks.push_back(
          {http::request_kind,
           fmt::format(R"({{"http_method":"get","url":"http://{}"}})", name(i) + text(400))});
    enqueue_own(server_.engine(), std::move(tasks));
    processor_ = enlist(http::request_kind);
    Exchange claim{.claim = ClaimRequest{.worker = processor_->id(),
                                         .kinds = {http::request_kind},
                                         .limit = 1'800,
                                         .lease = std::chrono::hours{1}}};
    auto claimed = parts().tasks().exchange(claim).claimed;
    ASSERT_EQ(claimed.size(), 1'800u);
    Exchange ends;
    for (std::size_t i = 0; i < 1'200; ++i)
      ends.settle.push_back({.lease = claimed[i].lease,
                             .result = R"({"status":200,"duration":0.5})",
                             .attempt = 1,
                             .kind = claimed[i].kind});
    parts().tasks().exchange(ends);
  }
  void fill_history() {
    const auto now = system_clock().wall();
    std::vector<HistoryPoint> points;
    for (int second = 3'500; second > 0; --second) {
      const server::Point point{.at = now - std::chrono::seconds{second}, .pending = 1'000'000};
      points.push_back({1, point.at, point_text(point)});
    }
    parts().metrics_history()->keep(points, {});
  }

  /// The one with a large body.
  std::string large_letter() const {
    DeadLetters letters{open_broker(server_.engine())};
    for (const auto& letter : letters.take(2'000))
      if (letter.delivery->size() > 1'000) return letter.name;
    return "none";
  }
  std::map<std::string, Question> questions() const {
    const auto task = "/v1/tasks/" + task_.text(), batch = "/v1/batches/" + batch_;
    return {{"/healthz", {"/healthz"}},
            {"/readyz", {"/readyz"}},
            {"/metrics", {"/metrics"}},
            {"/v1/session", {"/v1/session"}},
            {"/v1/openapi.json", {"/v1/openapi.json"}},
            {"/v1/stores", {"/v1/stores"}},
            {"/v1/health", {"/v1/health"}},
            {"/v1/settings", {"/v1/settings"}},
            {"/v1/recovery", {"/v1/recovery"}},
            {"/v1/metrics/kinds", {"/v1/metrics/kinds"}},
            {"/v1/http/stats", {"/v1/http/stats"}},
            {"/v1/tasks/count", {"/v1/tasks/count"}},
            {"/v1/tasks/{id}", {task}},
            {"/v1/tasks/{id}/explain", {task + "/explain"}},
            {"/v1/batches/{id}", {batch}},
            {"/v1/batches/{id}/rows/{line}", {batch + "/rows/1"}},
            {"/v1/transactions/{id}", {"/v1/transactions/t-0"}},
            {"/v1/tasks", {"/v1/tasks?limit=500", "tasks"}},
            {"/v1/tasks/{id}/history", {task + "/history?limit=1000", "history"}},
            {"/v1/tasks/{id}/logs", {task + "/logs?limit=1000", "lines"}},
            {"/v1/queues", {"/v1/queues?limit=5000", "queues"}},
            {"/v1/workers", {"/v1/workers?limit=5000", "workers"}},
            {"/v1/recovery/reports", {"/v1/recovery/reports?limit=100", "reports"}},
            {"/v1/metrics/history", {"/v1/metrics/history?seconds=3600", "points"}},
            {"/v1/audit", {"/v1/audit?limit=1000", "entries", "next_before", "before"}},
            {"/v1/tokens", {"/v1/tokens?limit=1000", "tokens"}},
            {"/v1/schedules", {"/v1/schedules?limit=500", "schedules"}},
            {"/v1/limits", {"/v1/limits?limit=1000", "limits"}},
            {"/v1/http/requests", {"/v1/http/requests?limit=500", "requests"}},
            {"/v1/batches", {"/v1/batches?limit=500", "batches"}},
            {"/v1/batches/{id}/rows", {batch + "/rows?limit=500", "rows"}},
            {"/v1/dead-letters", {"/v1/dead-letters?limit=500", "dead_letters"}},
            {"/v1/dead-letters/{letter}", {"/v1/dead-letters/" + large_letter()}},
            {"/v1/transactions", {"/v1/transactions?limit=500", "transactions"}},
            {"/v1/transactions/{id}/ledger", {"/v1/transactions/t-0/ledger?limit=1000", "ledger"}}};
  }

  /// How many pages it has, and entries on all of them; none of the pages is large.
  std::pair<int, std::size_t> walk(const std::string& pattern, const Question& question) {
    std::string cursor;
    std::size_t entries = 0;
    for (int pages = 1; pages < 1'000; ++pages) {
      const auto answer = server_.get(
          question.target + (cursor.empty() ? "" : "&" + question.parameter + "=" + cursor));
      EXPECT_EQ(answer.status, 200) << pattern << ": " << answer.body;
      EXPECT_LE(answer.body.size(), 2 * server::most_page_bytes) << pattern;
      if (answer.status != 200 || question.list.empty()) return {pages, entries};
      const auto document = answer.json();
      entries += document.at(question.list).as_array().size();
      const auto& next = document.at(question.cursor);
      if (next.is_null()) return {pages, entries};
      cursor = next.is_string() ? std::string{next.as_string()} : serialize(next);
    }
    ADD_FAILURE() << pattern << " never ends";
    return {0, entries};
  }

  ServerUnderTest server_;
  TaskId task_{};
  std::string batch_{};
  std::unique_ptr<Enlistment> processor_{};
};

/// A new route fails here until this test knows what makes its answer large, and has that.
TEST_F(AnswerBounds, HoldForEveryRoute) {
  fill_queues();
  fill_limits();
  fill_tokens();
  fill_reports();
  fill_task();
  fill_workers();
  fill_batches();
  fill_transactions();
  fill_http();
  fill_history();
  fill_dead_letters();
  const auto known = questions();
  for (const auto& route : server_.service().routes().all()) {
    // Streams are bounded as streams, files as files, and those of the dashboard are what they are.
    const bool other = route.pattern == "/v1/events" || route.pattern == "/login" ||
                       route.pattern == "/v1/batches/{id}/output" || route.pattern == "/" ||
                       route.pattern.starts_with("/{page}");
    if (route.method != "GET" || other) continue;
    const auto question = known.find(route.pattern);
    if (question == known.end()) {
      ADD_FAILURE() << "what makes the answer of " << route.pattern << " large?";
      continue;
    }
    const auto [pages, entries] = walk(route.pattern, question->second);
    if (question->second.list.empty()) continue;
    EXPECT_GT(pages, 1) << route.pattern << " has " << entries
                        << " entries here, which is not enough to see that it is bounded";
  }
}

TEST_F(AnswerBounds, LeaveNoEntryOut) {
  fill_queues();
  fill_limits();
  fill_history();
  EXPECT_EQ(walk("queues", {"/v1/queues?limit=1500", "queues"}).second, 4'000u);
  EXPECT_EQ(walk("limits", {"/v1/limits?limit=999", "limits"}).second, 4'000u);
  const auto points = walk("points", {"/v1/metrics/history?seconds=3600", "points"}).second;
  EXPECT_GE(points, 3'490u) << "the oldest may fall off meanwhile";
  const auto metrics = server_.get("/metrics").body;
  EXPECT_THAT(metrics, testing::HasSubstr("queue=\"00499-"));
  EXPECT_THAT(metrics, testing::Not(testing::HasSubstr("queue=\"00500-")));
  EXPECT_THAT(metrics, testing::HasSubstr("queue=\"\",state=\"pending\"} 3500"));
}

TEST_F(AnswerBounds, LeaveNoStepOfAHistoryOut) {
  task_ = server_.enqueue("noted");
  auto inspector = server_.inspector();
  for (int i = 0; i < 70; ++i) {
    inspector.hold({.ids = {task_}}, std::to_string(i));
    inspector.retry({.ids = {task_}});
  }
  const auto target = "/v1/tasks/" + task_.text() + "/history";
  for (const int limit : {1, 7, 50, 51, 140, 141, 142}) {
    boost::json::array steps;
    std::string cursor;
    do {
      const auto page = server_.get(fmt::format("{}?limit={}{}", target, limit, cursor)).json();
      EXPECT_LE(page.at("history").as_array().size(), static_cast<std::size_t>(limit));
      for (const auto& step : page.at("history").as_array()) steps.push_back(step);
      const auto& next = page.at("next_cursor");
      cursor = next.is_null() ? "" : "&cursor=" + std::string{next.as_string()};
    } while (!cursor.empty() && steps.size() < 200);
    ASSERT_EQ(steps.size(), 141u) << limit;
    for (int i = 0; i < 70; ++i)
      EXPECT_EQ(steps[static_cast<std::size_t>(2 * i + 1)].at("reason").as_string(),
                std::to_string(i));
  }
  EXPECT_EQ(server_.get(target + "?cursor=9223372036854775807-5").status, 200);
  EXPECT_EQ(server_.get(target + "?cursor=5-x").status, 400);
  const auto task = server_.get("/v1/tasks/" + task_.text()).json();
  EXPECT_EQ(task.at("history").as_array().size(), 141u);
  EXPECT_EQ(task.at("history_left_out").as_int64(), 0);
}

TEST_F(AnswerBounds, HoldForTheUsesOfALimit) {
  Limits{server_.engine()}.set(
      {.scope = LimitScope::key, .name = std::string{each_name}, .max_running = 5});
  std::vector<NewTask> tasks;
  for (int i = 0; i < 1'200; ++i) tasks.push_back({"k", "{}", {.limit_key = name(i)}});
  Tasks{server_.engine()}.enqueue_all(std::move(tasks));
  const auto worker = enlist("k");
  const Exchange claim{
      .claim = ClaimRequest{
          .worker = worker->id(), .kinds = {"k"}, .limit = 1'200, .lease = std::chrono::hours{1}}};
  ASSERT_EQ(parts().tasks().exchange(claim).claimed.size(), 1'200u);
  const auto limit = server_.get("/v1/limits").json().at("limits").at(0);
  EXPECT_EQ(limit.at("uses").as_array().size(), 1'000u);
  EXPECT_EQ(limit.at("uses_left_out").to_number<int>(), 200);
}

TEST_F(AnswerBounds, HoldForLiveEvents) {
  fill_queues();
  Wire events{server_.port()};
  events.send(
      request_text("GET", "/v1/events", {},
                   {{"Host", server_.host()}, {"Authorization", "Bearer " + server_.token()}}));
  const auto told = events.until("event: point");
  EXPECT_THAT(told, testing::HasSubstr("event: queues"));
  EXPECT_LE(told.size(), 3 * server::most_page_bytes);
}

}  // namespace
}  // namespace holdfast::test
