#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <holdfast/batches.hpp>
#include <holdfast/schedule.hpp>
#include <holdfast/state_machine.hpp>

#include "server/hub.hpp"
#include "server/problem.hpp"
#include "server/server_under_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* credential = "S3cr3tValue99";

/// Every place where people are shown what others wrote.
class Hiding : public testing::Test {
 protected:
  Answer post(const std::string& target, const std::string& body) {
    auto answer = server_.post(target, body, {{"Holdfast-Worker-Secret", secret_}});
    EXPECT_LT(answer.status, 300) << target << answer.body;
    return answer;
  }
  /// A task that a worker has, with all that can be written about it.
  std::string worked_on(const std::string& payload) {
    const auto id = server_.enqueue("k", payload).text();
    const auto enlisted = post("/v1/remote/workers", R"({"kinds":["k"]})").json();
    const std::string worker{enlisted.at("worker").as_string()};
    secret_ = enlisted.at("secret").as_string();
    const auto claimed = post("/v1/remote/workers/" + worker + "/claim", "{}");
    EXPECT_THAT(claimed.body, HasSubstr(credential)) << "the worker gets what was enqueued";
    const auto token = claimed.json().at("tasks").at(0).at("token").to_number<std::int64_t>();
    const auto lease = R"("id":")" + id + R"(","token":)" + std::to_string(token);
    post("/v1/remote/workers/" + worker + "/note",
         R"({"notes":[{)" + lease + R"(,"log":"GET https://h/?token=S3cr3tValue99 404"}]})");
    post("/v1/remote/workers/" + worker + "/settle",
         R"({"settlements":[{)" + lease +
             R"(,"outcome":"fail","error":"401 from https://ada:S3cr3tValue99@h/"}]})");
    return id;
  }
  ServerUnderTest server_;
  std::string secret_{};  // of the worker
};

TEST_F(Hiding, IsEverywhereWhereATaskIsShown) {
  const auto id = worked_on(R"({"privateKey":"S3cr3tValue99","url":"https://h/?sig=S3cr3tValue99",)"
                            R"("headers":[{"name":"X-Api-Key","value":"S3cr3tValue99"}],)"
                            R"("body":"{\"pwd\":\"S3cr3tValue99\"}","text":"shown"})");
  for (const auto& target :
       std::vector<std::string>{"/v1/tasks", "/v1/tasks/" + id, "/v1/tasks/" + id + "/logs",
                                "/v1/tasks/" + id + "/history", "/v1/tasks/" + id + "/explain",
                                std::string{"/v1/tasks?error=401"}}) {
    const auto answer = server_.get(target);
    EXPECT_EQ(answer.status, 200) << target << answer.body;
    EXPECT_THAT(answer.body, Not(HasSubstr(credential))) << target;
  }
  EXPECT_THAT(server_.get("/v1/tasks/" + id).body, HasSubstr("\"shown\""));
  EXPECT_THAT(server_.get("/v1/tasks/" + id + "/logs").body, HasSubstr("404"));
  EXPECT_THAT(server_.get("/v1/tasks/" + id + "?reveal=true").body, HasSubstr(credential));
}

TEST_F(Hiding, IsNotUndoneBySearching) {
  worked_on(R"({"url":"https://h/?sig=S3cr3tValue99"})");
  const auto found = [&](const std::string& query) {
    return server_.get("/v1/tasks?" + query).json().at("tasks").as_array().size();
  };
  EXPECT_EQ(found("error=401"), 1u);
  EXPECT_EQ(found("error=S3cr3t"), 0u) << "letter by letter";
  EXPECT_EQ(found("payload_field=url&payload_value=https%3A%2F%2Fh%2F%3Fsig%3DS3cr3tValue99"), 0u);
}

TEST_F(Hiding, IsInBatchesSchedulesAndProblems) {
  Batches batches{server_.engine()};
  const auto id = batches
                      .submit({.app = "a",
                               .op = "o",
                               .rows = {{1, R"({"access-key":"S3cr3tValue99"})"}},
                               .context = R"({"dsn":"S3cr3tValue99"})"})
                      .id.text();
  post("/v1/schedules", R"({"name":"s","cron":"0 0 1 1 *",)"
                        R"("task":{"kind":"k","payload":{"credential":"S3cr3tValue99"}}})");
  for (const auto& target :
       std::vector<std::string>{std::string{"/v1/batches"}, "/v1/batches/" + id,
                                "/v1/batches/" + id + "/rows", "/v1/batches/" + id + "/rows/1",
                                std::string{"/v1/schedules"}, std::string{"/v1/audit"}}) {
    const auto answer = server_.get(target);
    EXPECT_EQ(answer.status, 200) << target;
    EXPECT_THAT(answer.body, Not(HasSubstr(credential))) << target;
  }
  const server::Problem problem{503, "store_away", "no route to postgres://a:S3cr3tValue99@h/"};
  EXPECT_THAT(server::answer_for(problem).body, Not(HasSubstr(credential)));
}

TEST_F(Hiding, IsInTransactions) {
  start_transaction(server_.engine(), "m", "order-1", R"({"api_key":"S3cr3tValue99","a":"shown"})",
                    {});
  for (const auto* target :
       {"/v1/transactions", "/v1/transactions/order-1", "/v1/transactions/order-1/ledger"}) {
    const auto answer = server_.get(target);
    EXPECT_EQ(answer.status, 200) << target;
    EXPECT_THAT(answer.body, Not(HasSubstr(credential))) << target;
  }
  EXPECT_THAT(server_.get("/v1/transactions").body, HasSubstr("shown"));
}

TEST_F(Hiding, IsInEvents) {
  const auto hub = std::make_shared<server::Hub>();
  hub->publish("report", R"({"error":"password=S3cr3tValue99","token":17})", true);
  const auto text = hub->subscribe("")->take();
  EXPECT_THAT(text, Not(HasSubstr(credential)));
  EXPECT_THAT(text, HasSubstr("\"token\":17"));
}

}  // namespace
}  // namespace holdfast::test
