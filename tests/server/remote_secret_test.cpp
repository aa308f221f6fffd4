#include <gmock/gmock.h>

#include "recovery/clock.hpp"
#include "server/secrets.hpp"
#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using server::Scope;
using testing::HasSubstr;

/// Remote workers with tokens of their own, and others who see their ids and fencing tokens.
class WorkerSecrets : public testing::Test {
 protected:
  struct Enlisted {
    std::string worker, secret;
  };
  Enlisted enlist(const std::string& token,
                  const std::string& body = R"({"kinds":["mail.send"]})") {
    const auto answer = post(token, {}, "/v1/remote/workers", body);
    EXPECT_EQ(answer.status, 201) << answer.body;
    return {std::string{answer.json().at("worker").as_string()},
            std::string{answer.json().at("secret").as_string()}};
  }
  Answer post(const std::string& token, const std::string& secret, const std::string& path,
              const std::string& body = "{}") {
    return server_.bare("POST", path, body,
                        {{"Authorization", "Bearer " + token}, {"Holdfast-Worker-Secret", secret}});
  }
  Answer ask(const Enlisted& who, const std::string& token, const std::string& what,
             const std::string& body = "{}") {
    return post(token, who.secret, "/v1/remote/workers/" + who.worker + "/" + what, body);
  }
  TaskRecord task(const TaskId& id) { return server_.inspector().task(id).value(); }
  /// Every call that a worker can make about a task that it holds.
  static std::vector<std::pair<std::string, std::string>> calls(const std::string& id,
                                                                std::int64_t token) {
    const auto lease = R"("id":")" + id + R"(","token":)" + std::to_string(token);
    return {{"claim", "{}"},
            {"heartbeat", R"({"tasks":[")" + id + R"("]})"},
            {"settle", R"({"settlements":[{)" + lease + R"(,"outcome":"done"}]})"},
            {"note", R"({"notes":[{)" + lease + R"(,"log":"forged"}]})"},
            {"retire", "{}"}};
  }

  ServerUnderTest server_;
  std::string mailer_ = server_.new_token({.name = "mailer",
                                           .scopes = {Scope::work},
                                           .queues = {"default", "mail"},
                                           .kinds = {"mail.*"}});
  std::string other_ = server_.new_token({.name = "other", .scopes = {Scope::work}});
};

TEST_F(WorkerSecrets, AreDemandedForEverythingAndBoundToTheCredential) {
  const auto id = server_.enqueue("mail.send");
  const auto mine = enlist(mailer_);
  EXPECT_THAT(mine.secret, testing::MatchesRegex("[0-9a-f]{64}"));
  const auto claimed = ask(mine, mailer_, "claim").json().at("tasks").as_array();
  ASSERT_EQ(claimed.size(), 1u);
  const auto token = claimed[0].at("token").as_int64();
  const auto operates = server_.new_token({.name = "ops", .scopes = {Scope::operates}});
  for (const auto& [what, body] : calls(id.text(), token)) {
    const auto wrong = [&](const std::string& credential, const std::string& secret) {
      const auto answer = ask({mine.worker, secret}, credential, what, body);
      EXPECT_EQ(answer.status, 403) << what << answer.body;
      EXPECT_EQ(answer.code(), "wrong_worker") << what;
    };
    wrong(mailer_, "");
    wrong(mailer_, server::random_secret());
    wrong(mailer_, server::fingerprint(mine.secret));
    wrong(mailer_, enlist(mailer_).secret);
    for (const auto& credential : {other_, operates, server_.token()})
      wrong(credential, mine.secret);
  }
  EXPECT_EQ(task(id).state, TaskState::running);
  EXPECT_TRUE(server_.inspector().logs(id).empty());
  const auto done = calls(id.text(), token)[2].second;
  EXPECT_THAT(ask(mine, mailer_, "settle", done).body, HasSubstr("accepted"));
}

TEST_F(WorkerSecrets, KeepAWorkerFromWritingToTasksOfAnother) {
  const auto id = server_.enqueue("mail.send");
  const auto mine = enlist(mailer_), theirs = enlist(other_, R"({"kinds":["x"]})");
  const auto claimed = ask(mine, mailer_, "claim").json().at("tasks").as_array();
  ASSERT_EQ(claimed.size(), 1u);
  const auto token = claimed[0].at("token").as_int64();
  const auto all = calls(id.text(), token);
  EXPECT_EQ(ask(theirs, other_, "heartbeat", all[1].second).body,
            R"({"stop":[")" + id.text() + R"("]})");
  EXPECT_THAT(ask(theirs, other_, "settle", all[2].second).body, HasSubstr("refused"));
  EXPECT_EQ(ask(theirs, other_, "note", all[3].second).body, R"({"accepted":[false]})");
  EXPECT_TRUE(server_.inspector().logs(id).empty());
  EXPECT_EQ(task(id).state, TaskState::running);
  EXPECT_EQ(ask(mine, mailer_, "note", all[3].second).body, R"({"accepted":[true]})");
}

/// Neither with a wrong secret nor with a token that was revoked can a worker be kept alive.
TEST(WorkersThatAreRefused, LoseWhatTheyHoldWhenTheirLeaseIsOver) {
  Settings quick;
  quick.heartbeat.interval = Millis{100};
  quick.heartbeat.stale_threshold_multiplier = 5;
  quick.heartbeat.detection_interval = Millis{50};
  for (const bool revokes : {false, true}) {
    ServerUnderTest server{{.settings = quick}};
    const auto id = server.enqueue("a");
    Headers headers{{"Authorization",
                     "Bearer " + server.new_token({.name = "worker", .scopes = {Scope::work}})}};
    const auto worker =
        server.bare("POST", "/v1/remote/workers", R"({"kinds":["a"]})", headers).json();
    const auto path = "/v1/remote/workers/" + std::string{worker.at("worker").as_string()};
    headers["Holdfast-Worker-Secret"] = std::string{worker.at("secret").as_string()};
    ASSERT_EQ(server.bare("POST", path + "/claim", "{}", headers).status, 200);
    ASSERT_EQ(server.inspector().task(id)->state, TaskState::running);
    if (revokes)
      server.tokens().revoke("worker", "test", system_clock().wall());
    else
      headers["Holdfast-Worker-Secret"] = server::random_secret();
    const auto beat = R"({"tasks":[")" + id.text() + R"("]})";
    ASSERT_TRUE(eventually([&] {
      const auto answer = server.bare("POST", path + "/heartbeat", beat, headers);
      EXPECT_TRUE(answer.status == (revokes ? 401 : 403) || answer.status == 410) << answer.body;
      return server.inspector().task(id)->state == TaskState::pending;
    }));
  }
}

TEST_F(WorkerSecrets, WorkIsForTheQueuesAndKindsOfTheToken) {
  for (const std::string body : {R"({"kinds":["pay"]})", R"({"kinds":["mail.send","pay"]})",
                                 R"({"kinds":["mail.send"],"queues":["billing"]})"})
    EXPECT_EQ(post(mailer_, {}, "/v1/remote/workers", body).code(), "forbidden") << body;
  for (const auto& token : {mailer_, other_})
    EXPECT_THAT(post(token, {}, "/v1/remote/workers", R"({"kinds":["holdfast.http.forget"]})").body,
                HasSubstr("holdfast."))
        << "reserved";
  EXPECT_TRUE(server_.inspector().workers().empty());
  server_.enqueue("mail.send", "{}", {.queue = "billing"});
  const auto mine = enlist(mailer_);
  EXPECT_EQ(ask(mine, mailer_, "claim").body, R"({"tasks":[]})") << "not of that queue";
  server_.enqueue("mail.send", "{}", {.queue = "mail"});
  EXPECT_THAT(ask(mine, mailer_, "claim").body, HasSubstr("\"queue\":\"mail\""));
  const auto prefix = server_.new_token(
      {.name = "prefix", .scopes = {Scope::work}, .queues = {"mail*"}, .kinds = {"mail.*"}});
  EXPECT_THAT(post(prefix, {}, "/v1/remote/workers", R"({"kinds":["mail.send"]})").body,
              HasSubstr("name those"));
  enlist(prefix, R"({"kinds":["mail.send"],"queues":["mail-2"]})");
}

/// What it holds comes back by its lease, as of any worker that is silent.
TEST_F(WorkerSecrets, EndWithTheToken) {
  server_.enqueue("mail.send");
  const auto mine = enlist(mailer_);
  ASSERT_EQ(ask(mine, mailer_, "claim").json().at("tasks").as_array().size(), 1u);
  server_.tokens().revoke("mailer", "test", system_clock().wall());
  for (const auto* what : {"claim", "heartbeat", "settle", "note", "retire"})
    EXPECT_EQ(ask(mine, mailer_, what, "{}").status, 401) << what;
  const auto again = server_.new_token({.name = "mailer", .scopes = {Scope::work}});
  EXPECT_EQ(ask(mine, again, "claim").code(), "wrong_worker")
      << "another token of the same name is another credential";
}

TEST_F(WorkerSecrets, DoNotOutliveTheServer) {
  const auto mine = enlist(mailer_);
  ServerUnderTest next;
  const auto token = next.new_token({.name = "mailer", .scopes = {Scope::work}});
  EXPECT_EQ(
      next.bare("POST", "/v1/remote/workers/" + mine.worker + "/claim", "{}",
                {{"Authorization", "Bearer " + token}, {"Holdfast-Worker-Secret", mine.secret}})
          .code(),
      "worker_gone");
}

}  // namespace
}  // namespace holdfast::test
