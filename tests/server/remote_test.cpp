#include <mutex>

#include <gmock/gmock.h>

#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

Settings quick() {
  Settings settings;
  settings.heartbeat.interval = Millis{200};
  settings.heartbeat.stale_threshold_multiplier = 5;
  settings.heartbeat.detection_interval = Millis{100};
  settings.worker.stop_grace = Millis{500};
  return settings;
}

class RemoteWorkers : public testing::Test {
 protected:
  explicit RemoteWorkers(const Settings& settings = quick()) : server_{{.settings = settings}} {}

  std::string enlist(const std::string& body = R"({"kinds":["work"]})") {
    const auto answer = server_.post("/v1/remote/workers", body);
    EXPECT_EQ(answer.status, 201) << answer.body;
    std::string worker{answer.json().at("worker").as_string()};
    secrets_[worker] = answer.json().at("secret").as_string();
    return worker;
  }
  Answer ask(const std::string& worker, const std::string& what, const std::string& body = "{}") {
    return server_.post("/v1/remote/workers/" + worker + "/" + what, body,
                        {{"Holdfast-Worker-Secret", secrets_[worker]}});
  }
  static std::string settlement(const std::string& id, std::int64_t token,
                                const std::string& rest) {
    return R"({"settlements":[{"id":")" + id + R"(","token":)" + std::to_string(token) + "," +
           rest + "}]}";
  }
  TaskRecord task(const std::string& id) {
    return server_.inspector().task(TaskId::parse(id).value()).value();
  }

  ServerUnderTest server_;
  std::map<std::string, std::string> secrets_;  ///< by worker
};

/// With leases that a slow machine does not outlast.
class PatientRemoteWorkers : public RemoteWorkers {
 protected:
  PatientRemoteWorkers() : RemoteWorkers{Settings{}} {}
};

TEST_F(RemoteWorkers, ClaimNoteAndSettle) {
  const auto id = server_.enqueue("work", R"({"n":12345678901234567890})").text();
  const auto worker = enlist();
  const auto claimed = ask(worker, "claim");
  EXPECT_THAT(claimed.body, HasSubstr("12345678901234567890"));
  const auto token = claimed.json().at("tasks").at(0).at("token").as_int64();
  const auto notes = R"({"notes":[{"id":")" + id + R"(","token":)" + std::to_string(token) +
                     R"(,"log":"half"},{"id":")" + id + R"(","token":)" + std::to_string(token) +
                     R"(,"progress":0.5}]})";
  EXPECT_EQ(ask(worker, "note", notes).body, R"({"accepted":[true,true]})");
  const auto done = settlement(id, token, R"("outcome":"done","result":{"a":1})");
  EXPECT_THAT(ask(worker, "settle", done).body, HasSubstr("accepted"));
  EXPECT_THAT(ask(worker, "settle", done).body, HasSubstr("repeated"));
  EXPECT_EQ(task(id).state, TaskState::completed);
  EXPECT_EQ(task(id).result, R"({"a":1})");
  EXPECT_EQ(server_.inspector().logs(task(id).id).front().text, "half");
  EXPECT_EQ(ask(worker, "retire").status, 204);
  EXPECT_EQ(ask(worker, "claim").code(), "worker_gone");
}

TEST_F(PatientRemoteWorkers, AreGivenWhatFitsIntoAnAnswer) {
  const auto large = [](char letter) { return '"' + std::string(900'000, letter) + '"'; };
  std::vector<std::string> ids;
  for (char letter = 'a'; letter < 'm'; ++letter)
    ids.push_back(server_.enqueue("work", large(letter)).text());
  const auto worker = enlist(R"({"kinds":["work"],"concurrency":100})");
  std::vector<std::string> given;
  for (int answers = 0; given.size() < ids.size(); ++answers) {
    ASSERT_LT(answers, 4) << "each has several";
    const auto answer = ask(worker, "claim", R"({"limit":100})");
    EXPECT_LE(answer.body.size(), 5u * 1'024 * 1'024);
    const auto document = answer.json();
    for (const auto& each : document.at("tasks").as_array()) {
      EXPECT_EQ(each.at("attempt").as_int64(), 1) << "what did not fit was not charged for it";
      given.emplace_back(each.at("id").as_string());
    }
    const auto running = server_.inspector().count({.states = {TaskState::running}});
    EXPECT_EQ(running, std::ssize(given)) << "what it was not given waits for others";
  }
  EXPECT_EQ(given, ids) << "in the order of the queue";
  for (const auto& id : ids)
    EXPECT_LE(server_.inspector().history(TaskId::parse(id).value()).size(), 2u);
}

TEST_F(RemoteWorkers, AreRefusedWithATokenThatIsNotTheirs) {
  const auto id = server_.enqueue("work").text();
  const auto worker = enlist();
  const auto token = ask(worker, "claim").json().at("tasks").at(0).at("token").as_int64();
  const auto wrong = settlement(id, token + 1, R"("outcome":"done")");
  EXPECT_THAT(ask(worker, "settle", wrong).body, HasSubstr("refused"));
  EXPECT_EQ(task(id).state, TaskState::running);
  const auto other = enlist();
  EXPECT_THAT(ask(other, "settle", settlement(id, token, R"("outcome":"done")")).body,
              HasSubstr("refused"));
  EXPECT_EQ(task(id).state, TaskState::running);
}

TEST_F(RemoteWorkers, LoseTheirWorkWhenTheyFallSilent) {
  const auto id = server_.enqueue("work").text();
  const auto worker = enlist();
  const auto token = ask(worker, "claim").json().at("tasks").at(0).at("token").as_int64();
  ASSERT_TRUE(eventually([&] { return task(id).state == TaskState::pending; }));
  const auto late = ask(worker, "settle", settlement(id, token, R"("outcome":"done")"));
  EXPECT_NE(late.status == 200 ? late.body.find("refused") : 0, std::string::npos) << late.body;
  EXPECT_NE(task(id).state, TaskState::completed);
  EXPECT_EQ(ask(worker, "heartbeat", R"({"tasks":[]})").code(), "worker_gone");
  EXPECT_THAT(server_.inspector().history(TaskId::parse(id).value()).back().reason,
              HasSubstr("did not renew its lease in time"));
}

TEST_F(RemoteWorkers, SettleATaskOnceInARequestAndInOneWay) {
  std::vector<Transition> told;
  std::mutex mutex;
  server_.engine().events().subscribe([&](const Event& event) {
    std::lock_guard lock{mutex};
    if (const auto* change = std::get_if<TaskChanged>(&event)) told.push_back(change->transition);
  });
  const auto id = server_.enqueue("work").text();
  const auto worker = enlist();
  const auto token = ask(worker, "claim").json().at("tasks").at(0).at("token").as_int64();
  const auto one = [&](const std::string& outcome) {
    return R"({"id":")" + id + R"(","token":)" + std::to_string(token) + R"(,"outcome":")" +
           outcome + R"("})";
  };
  const auto twice =
      ask(worker, "settle", R"({"settlements":[)" + one("done") + "," + one("fail") + "]}");
  EXPECT_EQ(twice.code(), "invalid_request") << twice.body;
  EXPECT_EQ(task(id).state, TaskState::running) << "nothing of it was done";
  const auto settle = [&](const std::string& outcome) {
    return ask(worker, "settle", R"({"settlements":[)" + one(outcome) + "]}").body;
  };
  EXPECT_THAT(settle("done"), HasSubstr("accepted"));
  EXPECT_THAT(settle("done"), HasSubstr("repeated"));
  EXPECT_THAT(settle("fail"), HasSubstr("refused")) << "that was never accepted";
  EXPECT_EQ(task(id).state, TaskState::completed);
  std::lock_guard lock{mutex};
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told.back().to, TaskState::completed);
}

TEST_F(RemoteWorkers, HoldAsManyAtOnceAsTheySaidAndAgainWhenTheseEnded) {
  for (int i = 0; i < 5; ++i) server_.enqueue("work");
  const auto worker = enlist(R"({"kinds":["work"],"concurrency":2})");
  for (const std::size_t expected : {2u, 2u, 1u}) {
    const auto claimed = ask(worker, "claim", R"({"limit":5})").json().at("tasks").as_array();
    ASSERT_EQ(claimed.size(), expected);
    for (const auto& each : claimed)
      EXPECT_THAT(ask(worker, "settle",
                      settlement(std::string{each.at("id").as_string()},
                                 each.at("token").as_int64(), R"("outcome":"done")"))
                      .body,
                  HasSubstr("accepted"));
  }
}

TEST_F(RemoteWorkers, KeepWhatTheyNameInHeartbeatsAndNothingElse) {
  const auto kept = server_.enqueue("work").text();
  const auto lost = server_.enqueue("work").text();
  const auto worker = enlist(R"({"kinds":["work"],"concurrency":2})");
  ASSERT_EQ(ask(worker, "claim", R"({"limit":2})").json().at("tasks").as_array().size(), 2u);
  // The answer with the second one never arrived.
  ASSERT_TRUE(eventually([&] {
    EXPECT_EQ(ask(worker, "heartbeat", R"({"tasks":[")" + kept + R"("]})").body, R"({"stop":[]})");
    return task(lost).state == TaskState::pending;
  }));
  EXPECT_EQ(task(kept).state, TaskState::running);
}

TEST_F(RemoteWorkers, WaitForWork) {
  const auto worker = enlist();
  Wire waits{server_.port()};
  const std::string body = R"({"wait_ms":25000})";
  waits.send(request_text("POST", "/v1/remote/workers/" + worker + "/claim", body,
                          {{"Host", server_.host()},
                           {"Authorization", "Bearer " + server_.token()},
                           {"Holdfast-Worker-Secret", secrets_[worker]},
                           {"Content-Type", "application/json"}}));
  ASSERT_EQ(ask(worker, "heartbeat", R"({"tasks":[]})").status, 200);
  const auto id = server_.enqueue("work").text();
  EXPECT_THAT(waits.answer().body, HasSubstr(id));
}

TEST_F(RemoteWorkers, AreToldToStop) {
  const auto id = server_.enqueue("work").text();
  const auto worker = enlist();
  ask(worker, "claim");
  server_.post("/v1/tasks/cancel", R"({"ids":[")" + id + R"("]})");
  EXPECT_THAT(ask(worker, "heartbeat", R"({"tasks":[")" + id + R"("]})").body, HasSubstr(id));
}

TEST_F(RemoteWorkers, AreToldToStopWhatTakesTooLongAndLoseItIfTheyDoNot) {
  const auto id = server_.enqueue("work", "{}", {.max_attempts = 1, .timeout = Millis{300}}).text();
  const auto worker = enlist();
  const auto token = ask(worker, "claim").json().at("tasks").at(0).at("token").as_int64();
  const auto beat = [&] { return ask(worker, "heartbeat", R"({"tasks":[")" + id + R"("]})").body; };
  EXPECT_EQ(beat(), R"({"stop":[]})");
  ASSERT_TRUE(eventually([&] { return beat().find(id) != std::string::npos; }));
  EXPECT_EQ(task(id).state, TaskState::running) << "it has a moment to stop";
  ASSERT_TRUE(eventually([&] { return beat(), task(id).state == TaskState::failed; }));
  EXPECT_THAT(task(id).error, HasSubstr("longer than its timeout"));
  EXPECT_THAT(ask(worker, "settle", settlement(id, token, R"("outcome":"done")")).body,
              HasSubstr("refused"));
}

TEST_F(RemoteWorkers, RetryAndFailWithTheReason) {
  const auto id = server_.enqueue("work", "{}", {.max_attempts = 2}).text();
  const auto worker = enlist();
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const auto token = ask(worker, "claim", R"({"wait_ms":20000})")
                           .json()
                           .at("tasks")
                           .at(0)
                           .at("token")
                           .as_int64();
    ask(worker, "settle",
        settlement(id, token, R"("outcome":"retry","error":"no such host","delay_ms":1)"));
  }
  EXPECT_EQ(task(id).state, TaskState::failed);
  EXPECT_THAT(task(id).error, HasSubstr("no such host"));
  EXPECT_THAT(server_.get("/v1/tasks?error=NO%20SUCH").body, HasSubstr(id));
}

TEST_F(RemoteWorkers, HoldWithTheCauseUntilAnOperatorRetries) {
  const auto id = server_.enqueue("work").text();
  const auto worker = enlist();
  auto claimed_token = [&] {
    return ask(worker, "claim").json().at("tasks").at(0).at("token").as_int64();
  };
  const auto token = claimed_token();
  EXPECT_EQ(ask(worker, "settle", settlement(id, token, R"("outcome":"hold")")).status, 400);
  const auto held = settlement(id, token, R"("outcome":"hold","cause":"may be paid")");
  EXPECT_THAT(ask(worker, "settle", held).body, HasSubstr("accepted"));
  EXPECT_THAT(ask(worker, "settle", held).body, HasSubstr("repeated"));
  EXPECT_EQ(task(id).state, TaskState::held);
  EXPECT_EQ(task(id).cause, "may be paid");
  EXPECT_EQ(ask(worker, "claim").body, R"({"tasks":[]})");
  server_.post("/v1/tasks/retry", R"({"ids":[")" + id + R"("]})");
  EXPECT_THAT(ask(worker, "settle", settlement(id, claimed_token(), R"("outcome":"done")")).body,
              HasSubstr("accepted"));
  EXPECT_EQ(task(id).state, TaskState::completed);
}

}  // namespace
}  // namespace holdfast::test
