#include <chrono>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <boost/json.hpp>

#include "documents/redact.hpp"
#include "server/server_under_test.hpp"
#include "server/wire.hpp"

namespace holdfast::test {
namespace {

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using testing::Not;

class HostileInput : public testing::Test {
 protected:
  /// Everything that comes back for these bytes.
  std::string reply(const std::string& bytes) {
    Wire wire{server_.port()};
    wire.send(bytes);
    return wire.rest();
  }
  std::string head(const std::string& target, const std::string& more = {}) {
    return "POST " + target + " HTTP/1.1\r\nHost: " + server_.host() +
           "\r\nAuthorization: Bearer " + server_.token() +
           "\r\nContent-Type: application/json\r\n" + more;
  }
  bool well() { return server_.get("/v1/queues").status == 200; }

  ServerUnderTest server_;
};

TEST_F(HostileInput, CannotHideARequestInAnother) {
  const std::string inner =
      "POST /v1/queues/stolen/pause HTTP/1.1\r\nHost: " + server_.host() + "\r\n\r\n";
  const std::string outer[] = {
      head("/v1/queues/q/pause",
           "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
      head("/v1/queues/q/pause",
           "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n"),
      head("/v1/queues/q/pause", "Content-Length: 0\r\nContent-Length: 2\r\n\r\n{}"),
      head("/v1/queues/q/pause", "Content-Length: 2, 0\r\n\r\n{}"),
      head("/v1/queues/q/pause", "Content-Length: +2\r\n\r\n{}"),
      head("/v1/queues/q/pause", "Content-Length: -1\r\n\r\n{}"),
      head("/v1/queues/q/pause", "Transfer-Encoding: identity, chunked, gzip\r\n\r\n0\r\n\r\n"),
      head("/v1/queues/q/pause", "Transfer-Encoding: xchunked\r\nContent-Length: 0\r\n\r\n"),
      head("/v1/queues/q/pause", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
      head("/v1/queues/q/pause", "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n\r\n"),
      head("/v1/queues/q/pause", "Host: other\r\n\r\n"),
      head("/v1/queues/q/pause", "X: a\r\n b\r\n Authorization: Bearer x\r\nHost: b\r\n\r\n")};
  for (const auto& bytes : outer) {
    const auto answer = reply(bytes + inner);
    EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 4")) << bytes;
    // One answer, and then the connection is closed: what follows is not taken for a request.
    EXPECT_EQ(answer.find("HTTP/1.1", 8), std::string::npos) << bytes << answer;
  }
  for (const auto& queue : server_.inspector().queues()) EXPECT_FALSE(queue.paused) << queue.queue;
  EXPECT_TRUE(well());
}

TEST_F(HostileInput, CannotLeadOutOfThePages) {
  for (const auto* target :
       {"/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/a/..", "/.",
        "/..\\..\\etc", "/%5c..%5cetc", "/%00", "/%", "/%zz", "/%ff", "http://elsewhere/", "*",
        "//etc/passwd"}) {
    const auto answer = server_.bare("GET", target);
    EXPECT_THAT(answer.status, AnyOf(Eq(400), Eq(401), Eq(404))) << target;
    EXPECT_THAT(answer.body, Not(HasSubstr("root:"))) << target;
  }
  EXPECT_TRUE(well());
}

TEST_F(HostileInput, IsBoundedBeforeItIsRead) {
  const std::string start = "GET /v1/tasks HTTP/1.1\r\nHost: " + server_.host() + "\r\n";
  EXPECT_THAT(reply(start + "X: " + std::string(64 << 10, 'a')), HasSubstr(" 431 "));
  EXPECT_THAT(reply("GET /" + std::string(64 << 10, 'a')), HasSubstr("HTTP/1.1 4"));
  std::string many = start;
  for (std::size_t i = 0; i < server::most_headers; ++i)
    many += "X-" + std::to_string(i) + ": 1\r\n";
  EXPECT_THAT(reply(many + "\r\n"), HasSubstr(" 431 "));
  EXPECT_THAT(reply(head("/v1/queues/q/pause", "Content-Length: 100000000\r\n\r\n")),
              HasSubstr(" 413 "));
  const std::string chunk = "10000\r\n" + std::string(65'536, ' ') + "\r\n";
  EXPECT_THAT(
      reply(head("/v1/queues/q/pause", "Transfer-Encoding: chunked\r\n\r\n") + chunk + chunk),
      HasSubstr(" 413 "));
  // Who has no token is refused by the head alone, whatever follows.
  EXPECT_THAT(reply("POST /v1/tasks HTTP/1.1\r\nHost: " + server_.host() +
                    "\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n"),
              HasSubstr(" 401 "));
  EXPECT_TRUE(well());
}

TEST_F(HostileInput, IsRefusedWhereItIsNotHttp) {
  for (const auto& bytes :
       {std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9}, std::string(3'000, '\0'),
        std::string{"GET\r\n\r\n"}, std::string{"GET / HTTP/9.9\r\n\r\n"},
        std::string{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}, std::string{"\r\n\r\n\r\n\r\n"}})
    EXPECT_THAT(reply(bytes + "\r\n\r\n"), Not(HasSubstr(" 200 ")));
  const std::string deep = R"({"kind":"a","payload":)" + std::string(100'000, '[');
  EXPECT_EQ(server_.post("/v1/tasks", deep).status, 400);
  EXPECT_EQ(server_.post("/v1/tasks", R"({"kind":"a","kind":"b"})").status, 400);
  EXPECT_EQ(server_.post("/v1/tasks", "\xff\xfe{}").status, 400);
  EXPECT_TRUE(well());
}

TEST_F(HostileInput, StaysTextInAnswers) {
  const std::string nasty =
      R"(<script>alert(1)</script>\u202e\u0000"'--><img src=x onerror=alert(1)>)";
  const std::string payload = R"({"kind":"k","payload":"<script>alert(1)</script>\u202e"})";
  ASSERT_EQ(server_.post("/v1/tasks", payload).status, 201);
  for (const auto* target : {"/v1/tasks", "/v1/queues", "/v1/tasks?error=%3Cscript%3E",
                             "/v1/%3Cscript%3Ealert(1)%3C/script%3E"}) {
    const auto answer = server_.get(target);
    EXPECT_THAT(answer.headers.at("content-type"), testing::StartsWith("application/")) << target;
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
    EXPECT_THAT(answer.body, Not(HasSubstr("\xe2\x80\xae"))) << target;
  }
}

TEST_F(HostileInput, OfManySortsComesBackAsItWas) {
  std::ifstream file{HOLDFAST_SOURCE_DIR "/tests/server/hostile_corpus.json"};
  const auto corpus = boost::json::parse(std::string{std::istreambuf_iterator<char>{file}, {}});
  ASSERT_GE(corpus.as_array().size(), 300u);
  boost::json::array tasks;
  std::set<std::string> sent, back;
  for (const auto& text : corpus.as_array()) {
    // One of them is a header with a cookie, which is hidden.
    sent.insert(redact_text(std::string{text.as_string()}).text);
    tasks.push_back({{"kind", "corpus"}, {"payload", {{"text", text}}}});
  }
  const auto body = boost::json::serialize(boost::json::object{{"tasks", tasks}});
  ASSERT_EQ(server_.post("/v1/tasks", body).status, 201);
  const auto answer = server_.get("/v1/tasks?limit=500");
  EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
  const auto document = answer.json();
  for (const auto& task : document.at("tasks").as_array())
    back.insert(std::string{task.at("payload").at("text").as_string()});
  EXPECT_EQ(back, sent);
}

TEST_F(HostileInput, AnswersInOrderOnOneConnection) {
  Wire wire{server_.port()};
  const Headers headers{{"Host", server_.host()}, {"Authorization", "Bearer " + server_.token()}};
  wire.send(request_text("GET", "/v1/queues", {}, headers) +
            request_text("GET", "/v1/workers", {}, headers) +
            request_text("GET", "/healthz", {}, headers));
  EXPECT_THAT(wire.answer().body, HasSubstr("\"queues\""));
  EXPECT_THAT(wire.answer().body, HasSubstr("\"workers\""));
  EXPECT_EQ(wire.answer().body, "alive\n");
}

TEST_F(HostileInput, FiveHundredSlowCallersDelayNobody) {
  std::vector<Wire> slow;
  for (int i = 0; i < 500; ++i) {
    slow.emplace_back(server_.port());
    slow.back().send("GET /v1/tasks HTTP/1.1\r\nHost: ");
  }
  std::vector<Wire> slow_bodies;
  for (int i = 0; i < 100; ++i) {
    slow_bodies.emplace_back(server_.port());
    slow_bodies.back().send(head("/v1/tasks", "Content-Length: 1000\r\n\r\n{"));
  }
  using Clock = std::chrono::steady_clock;
  auto slowest = Clock::duration::zero();
  for (int round = 0; round < 50; ++round) {
    slow[static_cast<std::size_t>(round)].send("1");
    const auto began = Clock::now();
    ASSERT_EQ(server_.post("/v1/tasks", R"({"kind":"a"})").status, 201);
    slowest = std::max(slowest, Clock::now() - began);
  }
  EXPECT_LT(slowest, std::chrono::seconds{5});
  // They do not stay for ever, however often they send something.
  EXPECT_EQ(slow.back().rest(), "");
}

}  // namespace
}  // namespace holdfast::test
