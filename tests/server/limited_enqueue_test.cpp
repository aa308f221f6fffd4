#include <gmock/gmock.h>

#include "server/server_under_test.hpp"

namespace holdfast::test {
namespace {

using server::Scope;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Producers with tokens of their own, which do not trust one another.
class LimitedEnqueue : public testing::Test {
 protected:
  Answer enqueue(const std::string& body, const std::string& key = {},
                 const std::string& token = {}) {
    return server_.bare("POST", "/v1/tasks", body,
                        {{"Authorization", "Bearer " + (token.empty() ? orders_ : token)},
                         {"Idempotency-Key", key}});
  }
  TaskRecord only_task() {
    const auto tasks = server_.inspector().tasks({});
    EXPECT_EQ(tasks.size(), 1u);
    return tasks.at(0);
  }

  ServerUnderTest server_;
  std::string orders_ = server_.new_token(
      {.name = "orders", .scopes = {Scope::enqueue}, .queues = {"orders"}, .kinds = {"mail.*"}});
  std::string billing_ = server_.new_token(
      {.name = "billing", .scopes = {Scope::enqueue}, .queues = {"billing"}, .kinds = {"pay"}});
};

TEST_F(LimitedEnqueue, IsForTheQueuesAndKindsOfTheToken) {
  EXPECT_EQ(enqueue(R"({"kind":"mail.send","queue":"orders"})").status, 201);
  EXPECT_THAT(only_task().tags, Contains("token-orders"));
  for (const std::string task :
       {R"({"kind":"mail.send"})", R"({"kind":"mail.send","queue":"billing"})",
        R"({"kind":"pay","queue":"orders"})", R"({"kind":"holdfast.http.forget","queue":"orders"})",
        R"({"kind":"mail.send","queue":"holdfast.http"})"}) {
    EXPECT_EQ(enqueue(task).code(), "forbidden") << task;
    EXPECT_EQ(enqueue(R"({"tasks":[{"kind":"mail.send","queue":"orders"},)" + task + "]}").code(),
              "forbidden")
        << "all or none";
  }
  EXPECT_EQ(server_.inspector().count({}), 1);
}

TEST_F(LimitedEnqueue, WithoutNamesIsForAllButWhatIsReserved) {
  const auto any = server_.new_token({.name = "any", .scopes = {Scope::enqueue}});
  EXPECT_EQ(enqueue(R"({"kind":"a","queue":"b"})", {}, any).status, 201);
  EXPECT_THAT(enqueue(R"({"kind":"holdfast.http.forget"})", {}, any).body, HasSubstr("reserved"));
  EXPECT_EQ(enqueue(R"({"kind":"a","queue":"holdfast.http"})", {}, any).status, 403);
}

TEST_F(LimitedEnqueue, SaysWhichProgramItWasAndLetsNoneBeAnother) {
  const auto forged = R"({"kind":"mail.send","queue":"orders","tags":["token-billing"]})";
  EXPECT_EQ(enqueue(forged).code(), "forbidden");
  const auto operates = server_.new_token({.name = "ops", .scopes = {Scope::operates}});
  EXPECT_EQ(enqueue(forged, {}, operates).code(), "forbidden");
  EXPECT_EQ(enqueue(R"({"kind":"pay"})", {}, operates).status, 201);
  EXPECT_THAT(only_task().tags, Contains("token-ops"));
}

TEST_F(LimitedEnqueue, LearnsNothingAboutTasksOfOthers) {
  const auto theirs = server_.enqueue("pay", R"({"card":"4111"})", {.queue = "billing"}).text();
  const auto missing = TaskId::make().text();
  const auto after = [&](const std::string& id) {
    auto body = enqueue(R"({"kind":"mail.send","queue":"orders","after":[")" + id + R"("]})").body;
    return body.replace(body.find(id), id.size(), "ID");
  };
  EXPECT_EQ(after(theirs), after(missing)) << "whether it is there is not told";
  for (const auto& payload : {R"({"card":"4111"})", R"({"card":"0000"})"})
    EXPECT_EQ(enqueue(R"({"kind":"mail.send","queue":"orders","id":")" + theirs +
                      R"(","payload":)" + payload + "}")
                  .code(),
              "forbidden")
        << "a payload cannot be guessed";
  const auto own = enqueue(R"({"kind":"mail.send","queue":"orders"})").json().at("ids").at(0);
  EXPECT_EQ(enqueue(R"({"kind":"mail.send","queue":"orders","after":[")" +
                    std::string{own.as_string()} + R"("]})")
                .status,
            201);
}

TEST_F(LimitedEnqueue, CannotUseUpTheKeysOfOthers) {
  EXPECT_EQ(enqueue(R"({"kind":"mail.send","queue":"orders"})", "order-7").status, 201);
  const auto paid = enqueue(R"({"kind":"pay","queue":"billing"})", "order-7", billing_);
  EXPECT_EQ(paid.status, 201) << paid.body;
  EXPECT_EQ(server_.inspector().count({}), 2);
  EXPECT_EQ(enqueue(R"({"kind":"pay","queue":"billing"})", "order-7", billing_).body, paid.body);
  const auto next = server_.new_token(
      {.name = "billing-2", .scopes = {Scope::enqueue}, .queues = {"billing"}, .kinds = {"pay"}});
  EXPECT_EQ(enqueue(R"({"kind":"pay","queue":"billing"})", "order-7", next).body, paid.body)
      << "the next token of the same program repeats the request";
  EXPECT_EQ(server_.inspector().count({}), 2);
  const auto other = enqueue(R"({"kind":"pay","queue":"billing","payload":1})", "order-7", next);
  EXPECT_EQ(other.code(), "invalid_request") << "another request under the same key";
}

TEST_F(LimitedEnqueue, IsToldWhereAUniqueKeyIsThatOfATaskOfOthers) {
  const auto theirs =
      server_.enqueue("pay", R"({"card":"4111"})", {.queue = "billing", .unique_key = "k"}).text();
  const auto mine = R"({"kind":"mail.send","queue":"orders","unique_key":"k"})";
  EXPECT_EQ(enqueue(mine).code(), "unique_key_taken");
  EXPECT_THAT(enqueue(mine).body, Not(HasSubstr(theirs)));
  EXPECT_EQ(server_.inspector().count({}), 1);
  const auto own = R"({"kind":"mail.send","queue":"orders","unique_key":"own"})";
  const auto first = enqueue(own);
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(enqueue(own).body, first.body);
}

}  // namespace
}  // namespace holdfast::test
