#include <fmt/format.h>
#include <gmock/gmock.h>

#include <holdfast/error.hpp>
#include <holdfast/http/client.hpp>

#include "recovery/clock.hpp"
#include "server/buckets.hpp"
#include "server/quotas.hpp"
#include "server/server_under_test.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

using server::Scope;
using testing::HasSubstr;

std::string tasks(int count, const std::string& rest = {}) {
  std::string list;
  for (int i = 0; i < count; ++i) list += R"(,{"kind":"a","queue":"mine")" + rest + "}";
  return "{\"tasks\":[" + list.substr(1) + "]}";
}

/// Producers whose tokens have quotas.
class QuotasOfTokens : public testing::Test {
 protected:
  std::string program(std::optional<int> per_minute, std::optional<int> waiting) {
    return server_.new_token({.scopes = {Scope::enqueue},
                              .queues = {"mine"},
                              .kinds = {"a", "holdfast.http"},
                              .quota_per_minute = per_minute,
                              .quota_waiting = waiting});
  }
  Answer enqueue(const std::string& token, const std::string& body,
                 const std::string& target = "/v1/tasks", const std::string& key = {}) {
    return server_.bare("POST", target, body,
                        {{"Authorization", "Bearer " + token}, {"Idempotency-Key", key}});
  }
  static void expect_over(const Answer& answer) {
    EXPECT_EQ(answer.status, 429) << answer.body;
    EXPECT_EQ(answer.code(), "quota_exceeded");
    const auto wait = answer.headers.find("retry-after");
    ASSERT_NE(wait, answer.headers.end());
    EXPECT_GE(std::stoi(wait->second), 1);
    EXPECT_LE(std::stoi(wait->second), 60);
  }

  ServerUnderTest server_;
};

TEST_F(QuotasOfTokens, BoundTheTasksOfAMinute) {
  const auto token = program(10, {}), other = program(10, {});
  EXPECT_EQ(enqueue(token, tasks(8)).status, 201);
  expect_over(enqueue(token, tasks(5)));
  EXPECT_EQ(enqueue(token, tasks(2)).status, 201) << "what was refused was not counted";
  expect_over(enqueue(token, tasks(1)));
  EXPECT_EQ(enqueue(other, tasks(10)).status, 201) << "each token has its own";
  EXPECT_EQ(server_.inspector().count({}), 20);
  EXPECT_EQ(server_.post("/v1/tasks", tasks(500)).status, 201) << "people have none";
}

TEST_F(QuotasOfTokens, AreNotUsedUpByWhatWasNotEnqueued) {
  const auto token = program(10, {});
  const auto bad = tasks(10, R"(,"after":[")" + TaskId::make().text() + R"("])");
  const auto reserved = tasks(10, R"(,"payload":{"$blob":"x"})");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(enqueue(token, bad).status, 400);
    EXPECT_EQ(enqueue(token, reserved).status, 400);
  }
  EXPECT_EQ(enqueue(token, tasks(10)).status, 201);
}

TEST_F(QuotasOfTokens, CountWhatWasEnqueuedBesideAKeyThatIsTaken) {
  server_.enqueue("b", "{}", {.unique_key = "taken"});
  const auto token = program(10, {});
  const auto body =
      R"({"tasks":[{"kind":"a","queue":"mine","unique_key":"taken"},)" + tasks(9).substr(10);
  EXPECT_EQ(enqueue(token, body).code(), "unique_key_taken");
  EXPECT_EQ(server_.inspector().count({.queue = "mine"}), 9);
  expect_over(enqueue(token, body));
}

TEST_F(QuotasOfTokens, BoundTheTasksThatWait) {
  const auto token = program({}, 10);
  EXPECT_EQ(enqueue(token, tasks(6)).status, 201);
  EXPECT_EQ(enqueue(token, tasks(4)).status, 201);
  expect_over(enqueue(token, tasks(1)));
  EXPECT_THAT(enqueue(token, tasks(1)).body, HasSubstr("10 tasks wait in the queues"));
  server_.enqueue("a", "{}", {.queue = "of-others"});
  auto inspector = server_.inspector();
  EXPECT_EQ(inspector.cancel({.queue = "mine"}), 10);
  EXPECT_TRUE(eventually([&] { return enqueue(token, tasks(10)).status == 201; }))
      << "they wait no more";
}

TEST_F(QuotasOfTokens, CountWhatOthersPutIntoTheQueues) {
  const auto token = program({}, 10);
  EXPECT_EQ(enqueue(token, tasks(1)).status, 201);
  for (int i = 0; i < 9; ++i) server_.enqueue("a", "{}", {.queue = "mine"});
  EXPECT_TRUE(eventually([&] { return enqueue(token, tasks(5)).status == 429; }));
}

TEST_F(QuotasOfTokens, SayWhatCanNeverBeAllowed) {
  for (const auto& token : {program(10, {}), program({}, 10)}) {
    const auto answer = enqueue(token, tasks(11));
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("11 tasks"));
  }
}

TEST_F(QuotasOfTokens, AreForRequestsToo) {
  const auto token = program(2, {});
  const auto body = R"({"queue":"mine","request":{"http_method":"get","url":"http://a.example/"}})";
  EXPECT_EQ(enqueue(token, body, "/v1/http/requests").status, 201);
  EXPECT_EQ(enqueue(token, tasks(1)).status, 201);
  expect_over(enqueue(token, body, "/v1/http/requests"));
}

TEST_F(QuotasOfTokens, AreKeptAndShown) {
  const auto made = server_.post(
      "/v1/tokens",
      R"({"name":"shop","scopes":["enqueue"],"quota_per_minute":600,"quota_waiting":5000})");
  ASSERT_EQ(made.status, 201) << made.body;
  const server::Tokens::Listed again = server::Tokens{server_.folder() + "/tokens"}.list();
  ASSERT_EQ(again.tokens.size(), 1u);
  EXPECT_EQ(again.tokens[0].quota_per_minute, 600);
  EXPECT_EQ(again.tokens[0].quota_waiting, 5'000);
  EXPECT_THAT(server_.get("/v1/tokens").body, HasSubstr(R"("quota_waiting":5000)"));
  for (const std::string bad :
       {R"("scopes":["work"],"quota_waiting":5)", R"("scopes":["operator"],"quota_waiting":5)",
        R"("scopes":["enqueue","operator"],"quota_per_minute":5)",
        R"("scopes":["enqueue"],"quota_waiting":0)"})
    EXPECT_EQ(server_.post("/v1/tokens", R"({"name":"bad",)" + bad + "}").status, 400) << bad;
}

TEST(Buckets, RefillWithTime) {
  server::Buckets buckets;
  const Rate rate{.tasks = 20, .period = std::chrono::minutes{1}, .burst = 100};
  const Millis begin{1'000'000};
  EXPECT_EQ(buckets.take("a", rate, 100, begin), Millis{0});
  EXPECT_EQ(buckets.take("a", rate, 1, begin), Millis{3'000});
  EXPECT_EQ(buckets.take("b", rate, 1, begin), Millis{0});
  EXPECT_EQ(buckets.take("a", rate, 1, begin + Millis{3'000}), Millis{0});
  EXPECT_EQ(buckets.take("a", rate, 2, begin + Millis{6'000}), Millis{3'000});
  buckets.put_back("a", rate, 1'000, begin + Millis{6'000});
  EXPECT_EQ(buckets.take("a", rate, 100, begin + Millis{6'000}), Millis{0}) << "never over full";
  EXPECT_EQ(buckets.take("a", rate, 1, begin + Millis{6'000}), Millis{3'000});
}

}  // namespace
}  // namespace holdfast::test
