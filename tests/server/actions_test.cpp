#include <gmock/gmock.h>
#include <boost/json/serialize.hpp>

#include <holdfast/worker.hpp>

#include "documents/redact.hpp"
#include "server/server_under_test.hpp"
#include "support/process.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> ids_of(const json::value& list) {
  std::vector<std::string> ids;
  for (const auto& each : list.as_array())
    ids.emplace_back(each.is_string() ? each.as_string() : each.at("id").as_string());
  return ids;
}

class Actions : public testing::Test {
 protected:
  ServerUnderTest server_;
};

TEST_F(Actions, EnqueueKeepsThePayloadAsItWasWritten) {
  const auto payload = R"({"n":12345678901234567890123,"s":"<script>alert(1)</script>"})";
  const auto answer = server_.post("/v1/tasks", std::string{R"({"kind":"k","payload":)"} + payload +
                                                    R"(,"queue":"q","tags":["a"],"priority":1})");
  ASSERT_EQ(answer.status, 201) << answer.body;
  const auto id = ids_of(answer.json().at("ids")).front();
  const auto task = server_.inspector().task(*TaskId::parse(id)).value();
  EXPECT_EQ(task.payload, payload);
  EXPECT_EQ(task.queue, "q");
  EXPECT_EQ(task.priority, 1);
  const auto shown = server_.get("/v1/tasks/" + id);
  EXPECT_THAT(shown.body, HasSubstr("12345678901234567890123"));
  EXPECT_EQ(shown.headers.at("content-type"), "application/json");
  EXPECT_EQ(shown.headers.at("x-content-type-options"), "nosniff");
}

TEST_F(Actions, EnqueuesManyOrNone) {
  const auto bad = server_.post("/v1/tasks", R"({"tasks":[{"kind":"a"},{"kind":""}]})");
  EXPECT_EQ(bad.status, 400) << bad.body;
  EXPECT_EQ(server_.inspector().count({}), 0);
  const auto good = server_.post("/v1/tasks", R"({"tasks":[{"kind":"a"},{"kind":"b"}]})");
  EXPECT_EQ(ids_of(good.json().at("ids")).size(), 2u);
  EXPECT_EQ(server_.inspector().count({}), 2);
}

TEST_F(Actions, EnqueueOnceForEachIdempotencyKey) {
  const auto body = R"({"tasks":[{"kind":"a","payload":1},{"kind":"a","payload":2}]})";
  const auto first = server_.post("/v1/tasks", body, {{"Idempotency-Key", "order-7"}});
  const auto again = server_.post("/v1/tasks", body, {{"Idempotency-Key", "order-7"}});
  EXPECT_EQ(first.json(), again.json());
  const auto other = server_.post("/v1/tasks", body, {{"Idempotency-Key", "order-8"}});
  EXPECT_NE(first.json(), other.json());
  EXPECT_EQ(server_.inspector().count({}), 4);
  const auto changed =
      server_.post("/v1/tasks", R"({"kind":"a","payload":3})", {{"Idempotency-Key", "order-7"}});
  EXPECT_EQ(changed.status, 400);
  EXPECT_THAT(changed.body, HasSubstr("payload"));
}

TEST_F(Actions, RefuseAnotherRequestUnderTheSameIdempotencyKey) {
  const Headers key{{"Idempotency-Key", "order-9"}};
  const auto one = std::string{R"({"kind":"a","payload":1})"};
  ASSERT_EQ(server_.post("/v1/tasks", R"({"tasks":[)" + one + "]}", key).status, 201);
  const auto two = server_.post("/v1/tasks", R"({"tasks":[)" + one + "," + one + "]}", key);
  EXPECT_EQ(two.code(), "invalid_request") << two.body;
  for (const auto* option :
       {R"("delay_ms":1000)", R"("priority":1)", R"("max_attempts":9)", R"("tags":["t"])"}) {
    const auto other = R"({"kind":"a","payload":1,)" + std::string{option} + "}";
    EXPECT_EQ(server_.post("/v1/tasks", other, key).code(), "invalid_request") << option;
  }
  EXPECT_EQ(server_.inspector().count({}), 1);
  // The same, written otherwise, and in another trace.
  auto traced = key;
  traced["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(server_.post("/v1/tasks", R"({"payload":1, "kind":"a"})", traced).status, 201);
  EXPECT_EQ(server_.inspector().count({}), 1);
}

TEST_F(Actions, RetryWhatFailedWithAnError) {
  Tasks tasks{server_.engine()};
  tasks.on_json("a", [](Attempt& attempt) -> Outcome {
    return fail(attempt.payload() == "1" ? "No such host" : "out of paper");
  });
  for (int i = 0; i < 3; ++i) server_.enqueue("a", std::to_string(i % 2));
  holdfast::run(tasks, {.until_empty = true});
  ASSERT_EQ(server_.inspector().count({.states = {TaskState::failed}}), 3);
  const auto filter = std::string{R"("filter":{"state":["failed","pending"],"error":"PAPER"})"};
  EXPECT_EQ(server_.post("/v1/tasks/retry", "{" + filter + R"(,"dry_run":true})").body,
            R"({"changed":2,"complete":true})");
  EXPECT_EQ(server_.post("/v1/tasks/retry", "{" + filter + "}").body,
            R"({"changed":2,"complete":true,"looked_at":3,"next_cursor":null})");
  EXPECT_EQ(server_.inspector().count({.states = {TaskState::failed}}), 1);
}

TEST_F(Actions, RefuseAFilterThatSaysNothing) {
  server_.enqueue("a");
  for (const auto* filter :
       {"null", R"({})", R"({"error":""})", R"({"kind":""})", R"({"queue":""})", R"({"tag":""})",
        R"({"id":""})", R"({"state":[]})", R"({"since":""})", R"({"payload_field":""})",
        R"({"payload_value":"7"})", R"({"payload_field":"a","payload_value":""})"}) {
    const auto refused =
        server_.post("/v1/tasks/cancel", R"({"filter":)" + std::string{filter} + "}");
    EXPECT_EQ(refused.code(), "invalid_request") << filter << refused.body;
  }
  EXPECT_EQ(server_.post("/v1/tasks/cancel", R"({"filter":{"kind":"a"},"cursor":"0-0"})").code(),
            "invalid_request");
  EXPECT_EQ(server_.inspector().count({.states = {TaskState::pending}}), 1);
}

TEST_F(Actions, TakeTheFilterOfASearchAndGoOnWhereTimeWasUp) {
  constexpr int count = 1'300;
  for (int i = 0; i < count; ++i)
    server_.enqueue("k", R"({"customer":{"id":)" + std::to_string(i % 2) + "}}");
  const auto other = server_.enqueue("k", R"({"customer":{"id":1,"vip":true}})").text();
  const auto filter =
      std::string{R"("filter":{"payload_field":"customer.id","payload_value":"1"})"};
  std::int64_t changed = 0;
  int answers = 0;
  std::string cursor;
  do {
    const auto more = cursor.empty() ? "" : R"(,"cursor":")" + cursor + '"';
    const auto answer = server_.post("/v1/tasks/cancel", "{" + filter + more + "}");
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto document = answer.json();
    changed += document.at("changed").as_int64();
    const auto& next = document.at("next_cursor");
    EXPECT_EQ(document.at("complete").as_bool(), next.is_null());
    cursor = next.is_null() ? "" : std::string{next.as_string()};
  } while (!cursor.empty() && ++answers < 1'000);
  EXPECT_GT(answers, 0) << "500 are found at once, and there are more";
  EXPECT_EQ(changed, count / 2 + 1);
  EXPECT_EQ(server_.inspector().count({.states = {TaskState::cancelled}}), count / 2 + 1);
  const auto by_id = server_.post("/v1/tasks/retry", R"({"filter":{"id":")" + other + R"("}})");
  EXPECT_EQ(by_id.body, R"({"changed":1})");
}

TEST_F(Actions, ByAHiddenFieldLeaveItsValueOutOfTheAuditLog) {
  server_.enqueue("k", R"({"password":"p1"})");
  const auto done = server_.post("/v1/tasks/cancel",
                                 R"({"filter":{"payload_field":"password","payload_value":"p1"}})");
  EXPECT_EQ(done.json().at("changed").as_int64(), 1) << done.body;
  const auto audit = server_.get("/v1/audit").body;
  EXPECT_THAT(audit, HasSubstr("payload_field"));
  EXPECT_THAT(audit, Not(HasSubstr("p1")));
}

TEST_F(Actions, AreToldWhereAStoreWasMovedTo) {
  MoveNote note;
  note.to = "sqlite:elsewhere.db";
  note.closed = true;
  server_.engine().parts().task_transfer()->set_note(note);
  const auto refused = server_.post("/v1/tasks", R"({"kind":"a"})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "store_moved");
  EXPECT_THAT(refused.body, HasSubstr("elsewhere.db"));
  EXPECT_THAT(server_.get("/v1/health").body, HasSubstr("was moved to sqlite:elsewhere.db"));
}

TEST_F(Actions, RetryAndCancelByFilterAndTellHowMany) {
  for (int i = 0; i < 5; ++i) server_.enqueue("a");
  server_.enqueue("b");
  EXPECT_EQ(server_.post("/v1/tasks/cancel", R"({"filter":{"kind":"a"},"dry_run":true})").body,
            R"({"changed":5,"complete":true})");
  EXPECT_EQ(server_.inspector().count({.states = {TaskState::cancelled}}), 0);
  EXPECT_EQ(server_.post("/v1/tasks/cancel", R"({"filter":{"kind":"a"}})").body,
            R"({"changed":5})");
  EXPECT_EQ(server_.post("/v1/tasks/retry", R"({"filter":{"state":["cancelled"]}})").body,
            R"({"changed":5})");
  EXPECT_EQ(server_.inspector().count({.states = {TaskState::pending}}), 6);
}

TEST_F(Actions, AreInTheAuditLogWithWhoAndWhat) {
  server_.enqueue("a");
  server_.post("/v1/queues/default/pause");
  server_.post("/v1/tasks/cancel", R"({"filter":{"kind":"a"}})");
  const auto entries = server_.get("/v1/audit").json().at("entries").as_array();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].at("what").as_string(), "POST /v1/tasks/cancel");
  EXPECT_EQ(entries[0].at("who").as_string(), "operator/token");
  EXPECT_EQ(entries[0].at("outcome").as_string(), R"(200 {"changed":1})");
  EXPECT_EQ(entries[1].at("outcome").as_string(), "204");
  const auto history = server_.inspector().history(server_.inspector().tasks({}).front().id);
  EXPECT_EQ(history.back().actor, "operator/token");
}

TEST_F(Actions, PagesDoNotRepeatTasksWhenOthersComeIn) {
  std::set<std::string> seen;
  for (int i = 0; i < 30; ++i) server_.enqueue("old");
  std::string cursor;
  int pages = 0;
  do {
    const auto page =
        server_.get("/v1/tasks?limit=7" + (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(page.status, 200) << page.body;
    for (const auto& id : ids_of(page.json().at("tasks")))
      EXPECT_TRUE(seen.insert(id).second) << id;
    const auto next = page.json().at("next_cursor");
    cursor = next.is_null() ? "" : std::string{next.as_string()};
    for (int i = 0; i < 3; ++i) server_.enqueue("new");
  } while (!cursor.empty() && ++pages < 20);
  EXPECT_EQ(seen.size(), 30u);
}

TEST_F(Actions, SearchLooksIntoPayloadsAndGoesOnWhereItWasCutOff) {
  for (int i = 0; i < 700; ++i)
    server_.enqueue("k", R"({"customer":{"id":)" + std::to_string(i) + R"(,"name":"Ada"}})");
  auto find = [&](const std::string& query) {
    std::vector<std::string> found;
    std::string cursor;
    do {
      const auto page =
          server_.get("/v1/tasks?" + query + (cursor.empty() ? "" : "&cursor=" + cursor));
      for (const auto& id : ids_of(page.json().at("tasks"))) found.push_back(id);
      const auto next = page.json().at("next_cursor");
      cursor = next.is_null() ? "" : std::string{next.as_string()};
    } while (!cursor.empty());
    return found.size();
  };
  EXPECT_EQ(find("payload_field=customer.id&payload_value=7"), 1u);
  EXPECT_EQ(find("payload_field=customer.name&payload_value=Ada&limit=500"), 700u);
  EXPECT_EQ(find("payload_field=customer.email"), 0u);
  EXPECT_EQ(server_.get("/v1/tasks?payload_value=7").status, 400);
}

TEST_F(Actions, ListsHaveTheBeginningOfALongPayloadAndItsSize) {
  const auto text = R"({"password":"p1","user":"ada","text":")" + std::string(100'000, 'x') + "\"}";
  const auto id = server_.enqueue("long", text).text();
  server_.enqueue("short", R"({"a":1})");
  const auto list = server_.get("/v1/tasks");
  EXPECT_LT(list.body.size(), 10'000u);
  EXPECT_EQ(list.body.find("p1"), std::string::npos);
  const auto tasks = list.json().at("tasks").as_array();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].at("payload").at("a").as_int64(), 1);
  EXPECT_TRUE(tasks[0].at("payload_preview").is_null());
  EXPECT_TRUE(tasks[1].at("payload").is_null());
  EXPECT_EQ(tasks[1].at("payload_bytes").as_int64(), std::ssize(text));
  EXPECT_TRUE(tasks[1].at("hidden").as_bool());
  const std::string preview{tasks[1].at("payload_preview").as_string()};
  EXPECT_EQ(preview.find(R"({"password":"[hidden]","user":"ada","text":"xxx)"), 0u) << preview;
  const auto whole = server_.get("/v1/tasks/" + id).json();
  EXPECT_EQ(whole.at("payload").at("text").as_string().size(), 100'000u);
  EXPECT_TRUE(whole.at("payload_preview").is_null());
}

TEST_F(Actions, SearchInLargePayloadsIsCutOffWithinThem) {
  constexpr int count = 60;
  const std::string large(900'000, 'x');
  for (int i = 0; i < count; ++i)
    server_.enqueue("k", R"({"text":")" + large + R"(","n":)" + std::to_string(i) + "}");
  int found = 0, pages = 0;
  std::string cursor;
  do {
    const auto page = server_.get("/v1/tasks?payload_field=n&payload_value=7" +
                                  (cursor.empty() ? "" : "&cursor=" + cursor));
    ASSERT_EQ(page.status, 200) << page.body;
    const auto document = page.json();
    found += static_cast<int>(document.at("tasks").as_array().size());
    EXPECT_GT(document.at("looked_at").as_int64(), 0);
    const auto& next = document.at("next_cursor");
    cursor = next.is_null() ? "" : std::string{next.as_string()};
  } while (!cursor.empty() && ++pages <= count);
  EXPECT_TRUE(cursor.empty()) << "it comes to an end";
  EXPECT_EQ(found, 1);
}

TEST_F(Actions, HideSecretsUnlessAskedFor) {
  const auto id =
      server_.enqueue("k", R"({"user":"ada","Password":"p1","deep":[{"api_key":"p2"}]})").text();
  const auto shown = server_.get("/v1/tasks/" + id);
  EXPECT_THAT(shown.body, Not(HasSubstr("p1")));
  EXPECT_THAT(shown.body, Not(HasSubstr("p2")));
  EXPECT_THAT(shown.body, HasSubstr("ada"));
  EXPECT_TRUE(shown.json().at("hidden").as_bool());
  EXPECT_THAT(server_.get("/v1/tasks").body, Not(HasSubstr("p1")));
  EXPECT_THAT(server_.get("/v1/tasks/" + id + "?reveal=true").body, HasSubstr("p1"));
  EXPECT_THAT(server_.get("/v1/audit").body, HasSubstr("reveal"));
}

TEST(HideSecrets, LeavesEverythingElseAsItWas) {
  const auto shown = redact_json(R"({"a":1e400,"token":{"b":[1]},"c":[true,null,"\u00e9"]})");
  EXPECT_EQ(shown.text, R"({"a":1e400,"token":"[hidden]","c":[true,null,"\u00e9"]})");
  EXPECT_EQ(redact_json("[1,2]").text, "[1,2]");
  EXPECT_EQ(redact_json("").text, "");
  EXPECT_EQ(redact_json("not json").text, "not json");
}

}  // namespace
}  // namespace holdfast::test
