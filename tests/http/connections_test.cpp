// How connections are made, kept and given up.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "http/compression.hpp"
#include "http/http2_server.hpp"
#include "http/processor_scenario.hpp"
#include "support/loopback.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

/// Takes nobody any more: the few that it has room for are there, and whoever comes now waits.
class FullListener {
 public:
  FullListener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(listener_.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    constexpr int more_than_enough = 8;
    for (int i = 0; i < more_than_enough; ++i) {
      waiting_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      ::connect(waiting_.back(), generic, sizeof address);
    }
  }
  ~FullListener() {
    for (int one : waiting_) ::close(one);
    ::close(listener_.socket);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/", listener_.port); }

 private:
  test::Listener listener_ = test::listen_on_loopback(0);
  std::vector<int> waiting_;
};

class Connections : public ProcessorScenario {
 protected:
  /// A processor that goes on until `end`.
  void begin(ProcessorOptions options) {
    options.until_empty = false;
    processor_.emplace(engine_, options);
    running_ = std::jthread{[this] { summary_ = processor_->run(); }};
  }
  void end() {
    processor_->quiet();
    running_.join();
  }
  /// Performs one request and waits for its end.
  void get(const std::string& url, Millis delay = Millis{0}) {
    Client{engine_, {.task = {.delay = delay}}}.get(url, call(url));
    ++asked_;
    ASSERT_TRUE(test::eventually([&] {
      return inspector_.count({.states = {TaskState::completed}, .kind = request_kind}) == asked_;
    }));
  }

  std::optional<Processor> processor_;
  std::jthread running_;
  int asked_ = 0;
};

test::Reply fine(const ServedRequest&) { return answer(200, "fine"); }

TEST_F(Connections, AreMadeWithIPv6) {
  std::string host;
  HttpServer server{[&](const ServedRequest& request) {
                      host = request.headers.at("host");
                      return answer(200, "six");
                    },
                    HttpServer::At::ipv6};
  client_.get(server.url(), call("x"));
  auto told = perform();
  EXPECT_EQ(told.responses["x"].body, "six") << told.errors["x"].message;
  EXPECT_EQ(host, fmt::format("[::1]:{}", server.port()));
  auto guarded = lenient();
  guarded.egress.allow_private = false;
  client_.get(server.url(), call("blocked"));
  EXPECT_EQ(perform(guarded).errors["blocked"].type, ErrorType::blocked_address);
  guarded.egress.allow = {"::1/128"};
  client_.get(server.url(), call("allowed"));
  EXPECT_EQ(perform(guarded).responses["allowed"].body, "six");
}

TEST_F(Connections, AreUsedAgain) {
  HttpServer server{fine};
  begin(lenient());
  for (const auto* path : {"/1", "/2", "/3"}) get(server.url(path));
  EXPECT_EQ(server.connections(), 1);
  EXPECT_EQ(server.open(), 1) << "it is kept for the next one";
  end();
  EXPECT_EQ(server.served(), 3);
}

TEST_F(Connections, ThatTheServerClosesAfterReadingCostAnAttemptEach) {
  std::atomic<int> gets = 0;
  HttpServer server{[&](const ServedRequest& request) -> test::Reply {
    if (request.target == "/warm") return answer(200);
    ++gets;
    return {.then = test::Reply::Then::close};
  }};
  auto options = lenient();
  options.breaker.failures = 0;
  begin(options);
  get(server.url("/warm"));
  constexpr int attempts = 3;
  Client client{engine_,
                {.persistence = {.attempts = attempts,
                                 .backoff = {.first = Millis{1}, .longest = Millis{1}}}}};
  const auto id = client.get(server.url("/gone"));
  EXPECT_TRUE(test::eventually([&] { return inspector_.task(id)->state == TaskState::failed; }));
  end();
  EXPECT_EQ(inspector_.task(id)->attempt, attempts);
  EXPECT_EQ(gets, attempts);
}

TEST_F(Connections, ThatTheServerClosesAfterReadingDoNotSendARequestAgain) {
  constexpr int pooled = 6;
  std::atomic<int> posts = 0, patches = 0, gets = 0;
  HttpServer server{[&](const ServedRequest& request) -> test::Reply {
    if (request.target == "/warm") {
      auto reply = answer(200);
      reply.waits = true;
      return reply;
    }
    ++(request.method == "POST" ? posts : request.method == "PATCH" ? patches : gets);
    return {.then = test::Reply::Then::close};
  }};
  auto warm_up = [&] {
    for (int i = 0; i < pooled; ++i) client_.get(server.url("/warm"));
    asked_ += pooled;
  };
  begin(lenient());
  warm_up();
  ASSERT_TRUE(test::eventually([&] { return server.most_at_once() == pooled; }));
  server.release();
  auto all_ended = [&](int failed) {
    return test::eventually([&] {
      return inspector_.count({.states = {TaskState::completed}}) == asked_ &&
             inspector_.count({.states = {TaskState::failed}}) == failed;
    });
  };
  ASSERT_TRUE(all_ended(0));
  client_.post(server.url("/gone"), {.body = "once"});
  ASSERT_TRUE(all_ended(1));
  client_.patch(server.url("/gone"), {.body = "once"});
  ASSERT_TRUE(all_ended(2));
  client_.get(server.url("/gone"));
  ASSERT_TRUE(all_ended(3));
  end();
  EXPECT_EQ(posts, 1);
  EXPECT_EQ(patches, 1);
  EXPECT_EQ(gets, 1) << "idempotent, but that was its only attempt";
}

TEST_F(Connections, ThatWereIdleForTooLongAreNotUsedAgain) {
  HttpServer server{fine};
  auto options = lenient();
  options.idle_timeout = Millis{1'000};
  begin(options);
  get(server.url("/1"));
  // Idle times are whole seconds: longer than one is two.
  get(server.url("/2"), Millis{2'100});
  EXPECT_EQ(server.connections(), 2);
  end();
}

TEST_F(Connections, ThatAreIdleAreNoMoreThanIsAllowed) {
  HttpServer one{fine}, other{fine};
  auto options = lenient();
  options.capacity = 1;
  options.idle_connections = 1;
  begin(options);
  get(one.url());
  EXPECT_EQ(one.open(), 1);
  get(other.url());
  EXPECT_TRUE(test::eventually([&] { return one.open() == 0; })) << "the older one makes room";
  EXPECT_EQ(other.open(), 1);
  end();
}

TEST_F(Connections, ThatAreNotMadeInTimeAreGivenUp) {
  FullListener nobody;
  auto options = lenient();
  options.connect_timeout = Millis{300};
  client_.get(nobody.url(), call("x"));  // which may take 20 seconds
  auto told = perform(options);
  EXPECT_EQ(told.errors["x"].type, ErrorType::timeout) << told.errors["x"].message;
  EXPECT_LT(told.errors["x"].duration, 10);
}

TEST_F(Connections, SpeakOnlyTheFirstVersionIfThatIsAskedFor) {
  test::make_certificate(store_.folder());
  // It does not know HTTP/1.1, and says so.
  test::Http2Server server{store_.folder() / "ca.crt", store_.folder() / "ca.key", 1'000};
  auto options = lenient();
  options.ca_file = store_.folder() / "ca.crt";
  options.version = HttpVersion::http1;
  client_.get(server.url(), call("first"));
  auto told = perform(options);
  EXPECT_TRUE(told.errors.contains("first")) << "it was answered, so that was HTTP/2";
  EXPECT_EQ(server.connections(), 1);
  options.version = HttpVersion::automatic;
  client_.get(server.url(), call("second"));
  EXPECT_EQ(perform(options).responses["second"].status, 200);
}

TEST_F(Connections, AnswersMayBeAsLargeAsIsSaidAndNoLarger) {
  HttpServer server{[](const ServedRequest& request) -> test::Reply {
    const bool larger = request.target.starts_with("/larger");
    const std::string body(larger ? 1'001 : 1'000, 'x');
    if (request.target.ends_with("without_length"))
      return {.bytes = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body,
              .then = test::Reply::Then::close};
    if (request.target.ends_with("compressed"))
      return answer(200, compress(body, true), "Content-Encoding: gzip\r\n");
    return answer(200, body);
  }};
  auto options = lenient();
  options.max_response_bytes = 1'000;
  for (const std::string how : {"", "_without_length", "_compressed"}) {
    client_.get(server.url("/fits" + how), call("fits" + how));
    client_.get(server.url("/larger" + how), call("larger" + how));
  }
  auto told = perform(options);
  for (const std::string how : {"", "_without_length", "_compressed"}) {
    EXPECT_EQ(told.responses["fits" + how].body.size(), 1'000u) << how;
    EXPECT_EQ(told.errors["larger" + how].type, ErrorType::response_too_large) << how;
  }
}

TEST_F(Connections, AreBrokenOffWhenTheTimeForTheEndIsOver) {
  HttpServer silent{[](const ServedRequest&) -> test::Reply { return {.never = true}; }};
  begin(lenient());
  auto id = client_.get(silent.url(), call("x"));
  ASSERT_TRUE(test::eventually([&] { return silent.served() == 1; }));
  end();
  EXPECT_EQ(summary_.tasks.given_back, 1);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::pending);
  EXPECT_EQ(inspector_.task(id)->attempt, 0) << "it is not its fault";
}

TEST_F(Connections, AreNotBrokenOffBefore) {
  Settings patient;
  patient.worker.drain_timeout = std::chrono::minutes{1};
  engine_ = open(store_.address() + "?durability=crash-safe", patient);
  HttpServer server{[](const ServedRequest&) {
    auto reply = answer(200, "late");
    reply.waits = true;
    return reply;
  }};
  begin(lenient());
  auto id = client_.get(server.url(), call("x"));
  ASSERT_TRUE(test::eventually([&] { return server.served() == 1; }));
  processor_->rest();
  EXPECT_EQ(processor_->state(), ProcessorState::draining);
  processor_->quiet();
  EXPECT_EQ(processor_->state(), ProcessorState::stopping);
  server.release();
  running_.join();
  EXPECT_EQ(summary_.answered, 1);
  EXPECT_EQ(inspector_.task(id)->state, TaskState::completed);
}

}  // namespace
}  // namespace holdfast::http
