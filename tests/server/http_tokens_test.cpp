#include <gmock/gmock.h>

#include <holdfast/http/client.hpp>
#include <holdfast/http/payloads.hpp>

#include "server/server_under_test.hpp"

namespace holdfast::test {
namespace {

using server::Scope;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Producers that may enqueue HTTP requests.
class HttpTokens : public testing::Test {
 protected:
  std::string token(std::vector<std::string> kinds, std::set<Scope> scopes = {Scope::enqueue}) {
    return server_.new_token({.scopes = std::move(scopes), .queues = {"hooks"}, .kinds = kinds});
  }
  Answer send(const std::string& token, const std::string& request, const std::string& rest = {},
              const std::string& key = {}) {
    return server_.bare(
        "POST", "/v1/http/requests",
        R"({"queue":"hooks","request":{"http_method":"post",)" + request + "}" + rest + "}",
        {{"Authorization", "Bearer " + token}, {"Idempotency-Key", key}});
  }

  ServerUnderTest server_{ServerUnderTest::Options{
      .payloads = {.keyring = {.current = "a", .keys = {{"a", std::string(32, 'k')}}}}}};
  const std::string to_a_ = R"("url":"http://a.example/")";
};

TEST_F(HttpTokens, EnqueueRequestsWhereTheKindIsNamed) {
  const auto sends = token({"holdfast.http"});
  const auto answer = send(sends, to_a_);
  ASSERT_EQ(answer.status, 201) << answer.body;
  const auto task =
      server_.inspector().task(TaskId::parse(answer.json().at("id").as_string()).value()).value();
  EXPECT_EQ(task.kind, http::request_kind);
  EXPECT_THAT(task.tags, Contains("token-program-1"));
  EXPECT_TRUE(http::is_sealed(task.payload));
  for (const auto& other : {token({}), token({"*"}), token({"hold*"}), token({"mail.*"})})
    EXPECT_THAT(send(other, to_a_).body, HasSubstr("takes a token with the scope enqueue"));
  EXPECT_EQ(send(server_.new_token({.scopes = {Scope::work}}), to_a_).code(), "forbidden");
  EXPECT_EQ(server_.inspector().count({}), 1);
}

TEST_F(HttpTokens, AreForTheirQueuesAndCallbacksOnly) {
  const auto sends = token({"holdfast.http", "answer.*"});
  EXPECT_EQ(send(sends, to_a_, R"(,"queue":"hooks")").status, 400) << "named twice";
  const auto elsewhere = server_.bare("POST", "/v1/http/requests",
                                      R"({"request":{"http_method":"post",)" + to_a_ + "}}",
                                      {{"Authorization", "Bearer " + sends}});
  EXPECT_EQ(elsewhere.code(), "forbidden") << "the queue 'default'";
  EXPECT_EQ(send(sends, to_a_ + R"(,"callback":"pay","callback_queue":"hooks")").code(),
            "forbidden");
  EXPECT_EQ(send(sends, to_a_ + R"(,"callback":"answer.keep")").code(), "forbidden")
      << "the callback would be in the queue 'default'";
  EXPECT_EQ(send(sends, to_a_ + R"(,"callback":"answer.keep","callback_queue":"pay")").code(),
            "forbidden");
  EXPECT_EQ(send(sends, to_a_ + R"(,"callback":"answer.keep","callback_queue":"hooks")").status,
            201);
  EXPECT_EQ(server_.inspector().count({}), 1);
}

TEST_F(HttpTokens, StillHandOverNothingReserved) {
  const auto sends = token({"holdfast.http"});
  for (const std::string kind : {"holdfast.http", "holdfast.http.forget"})
    EXPECT_NE(server_
                  .bare("POST", "/v1/tasks", R"({"kind":")" + kind + R"(","queue":"hooks"})",
                        {{"Authorization", "Bearer " + sends}})
                  .status,
              201);
  for (const std::string callback : {"holdfast.http", "holdfast.http.forget", "holdfast.tx"})
    EXPECT_NE(
        send(sends, to_a_ + R"(,"callback":")" + callback + R"(","callback_queue":"hooks")").status,
        201);
  EXPECT_EQ(send(sends, to_a_, R"(,"tags":["token-other"])").code(), "forbidden");
  EXPECT_EQ(send(sends, to_a_, R"(,"id":")" + TaskId::make().text() + '"').code(), "forbidden");
  EXPECT_EQ(server_.inspector().count({}), 0);
  for (const auto& kinds : {std::vector<std::string>{"holdfast.http.*"},
                            {"holdfast.*"},
                            {"holdfast.http.forget"},
                            {"holdfast.tx"}})
    EXPECT_ANY_THROW(token(kinds)) << kinds.front();
  EXPECT_ANY_THROW(token({"holdfast.http"}, {Scope::work}));
}

TEST_F(HttpTokens, RepeatARequestWithItsKey) {
  const auto sends = token({"holdfast.http"});
  const auto first = send(sends, to_a_, "", "order-7");
  ASSERT_EQ(first.status, 201) << first.body;
  EXPECT_EQ(send(sends, to_a_, "", "order-7").body, first.body);
  EXPECT_EQ(server_.inspector().count({}), 1);
  EXPECT_THAT(send(sends, R"("url":"http://b.example/")", "", "order-7").body,
              HasSubstr("another request had this Idempotency-Key"));
  EXPECT_THAT(send(sends, to_a_, R"(,"max_attempts":9)", "order-7").body,
              HasSubstr("another request had this Idempotency-Key"));
  EXPECT_NE(send(sends, to_a_, "", "order-8").body, first.body);
  EXPECT_EQ(server_.inspector().count({}), 2);
}

}  // namespace
}  // namespace holdfast::test
