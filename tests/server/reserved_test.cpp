#include <gmock/gmock.h>

#include <holdfast/http/client.hpp>
#include <holdfast/http/payloads.hpp>
#include <holdfast/schedule.hpp>

#include "server/server_under_test.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What callers of the API must not hand over, and what they have instead.
class ReservedOverTheApi : public testing::Test {
 protected:
  void expect_refused(const std::string& target, const std::string& body) {
    const auto answer = server_.post(target, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.code(), "invalid_request") << body;
    EXPECT_THAT(answer.body, HasSubstr("reserved for Holdfast itself")) << body;
  }
  ServerUnderTest server_{ServerUnderTest::Options{
      .payloads = {.keyring = {.current = "a", .keys = {{"a", std::string(32, 'k')}}}}}};
};

TEST_F(ReservedOverTheApi, IsRefused) {
  for (const std::string task :
       {R"({"kind":"holdfast.http.forget","payload":"x"})", R"({"kind":"holdfast.http"})",
        R"({"kind":"holdfast.tx"})", R"({"kind":"a","queue":"holdfast.http"})",
        R"({"kind":"a","payload":{"$blob":"x"}})",
        R"({"kind":"a","payload":{"$encrypted":{"key":"a","value":"b"}}})",
        R"({"kind":"a","payload":{ "b":1,"\u0024secret":"x"}})"}) {
    expect_refused("/v1/tasks", task);
    expect_refused("/v1/tasks", R"({"tasks":[{"kind":"fine"},)" + task + "]}");
    expect_refused("/v1/schedules", R"({"name":"s","cron":"0 0 1 1 *","task":)" + task + "}");
  }
  expect_refused("/v1/remote/workers", R"({"kinds":["fine","holdfast.http"]})");
  EXPECT_EQ(server_.inspector().count({}), 0);
  EXPECT_TRUE(Schedules{server_.engine()}.list().empty());
}

TEST_F(ReservedOverTheApi, RequestsHaveAWayOfTheirOwnAndAreEncrypted) {
  const std::string body = R"({"queue":"q","priority":1,"max_attempts":7,"tags":["t"],"request":
      {"http_method":"post","url":"http://example.org/","body":"secret","callback":"keep"}})";
  const auto answer = server_.post("/v1/http/requests", body);
  ASSERT_EQ(answer.status, 201) << answer.body;
  const auto id = TaskId::parse(answer.json().at("id").as_string()).value();
  const auto task = server_.inspector().task(id).value();
  EXPECT_EQ(task.kind, http::request_kind);
  EXPECT_EQ(task.queue, "q");
  EXPECT_EQ(task.priority, 1);
  EXPECT_EQ(task.max_attempts, 7);
  EXPECT_TRUE(http::is_sealed(task.payload));
  EXPECT_THAT(task.payload, Not(HasSubstr("secret")));
  const auto opened =
      http::unseal(task.payload, {id, task.kind, task.queue}, server_.service().options().payloads);
  EXPECT_EQ(opened.document.at("callback").as_string(), "keep");
}

TEST_F(ReservedOverTheApi, ARepeatedRequestIsEnqueuedOnce) {
  const auto id = TaskId::make().text();
  const auto body =
      R"({"id":")" + id + R"(","request":{"url":"http://a.example/","http_method":"get"}})";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(server_.post("/v1/http/requests", body).body, R"({"id":")" + id + R"("})");
  EXPECT_EQ(server_.inspector().count({}), 1);
}

TEST_F(ReservedOverTheApi, RequestsThatMakeNoSenseAreRefusedAtOnce) {
  const std::string get = R"("http_method":"get","url":"http://a.example/")";
  for (const std::string& body : std::vector<std::string>{
           "{}", R"({"request":7})", R"({"request":{}})",
           R"({"request":{"http_method":"get","url":"file:///etc/passwd"}})",
           R"({"request":{)" + get + R"(,"callback":"holdfast.http"}})",
           R"({"request":{)" + get + R"(,"callback":"a","callback_queue":"holdfast.http"}})",
           R"({"queue":"holdfast.http","request":{)" + get + "}}",
           R"({"kind":"a","request":{)" + get + "}}",
           R"({"request":{)" + get + R"(,"headers":{"x":"a\r\nb: c"}}})"}) {
    EXPECT_EQ(server_.post("/v1/http/requests", body).code(), "invalid_request") << body;
  }
  EXPECT_EQ(server_.inspector().count({}), 0);
}

}  // namespace
}  // namespace holdfast::test
