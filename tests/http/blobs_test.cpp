#include <holdfast/http/payloads.hpp>

#include <atomic>
#include <latch>

#include <fmt/format.h>
#include <boost/json/parse.hpp>

#include "http/forget.hpp"
#include "http/processor_scenario.hpp"
#include "support/hindered_blobs.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;
using testing::Not;

/// Requests and answers that are encrypted, or kept outside of the store.
class SealedRequests : public ProcessorScenario {
 protected:
  std::shared_ptr<BlobStore> blobs() const {
    return open_blobs("dir:" + (store_.folder() / "blobs").string());
  }
  static Keyring ring() { return {.current = "k", .keys = {{"k", std::string(32, 'k')}}}; }
  void run(const PayloadOptions& payloads) {
    auto options = lenient();
    options.payloads = payloads;
    Processor{engine_, options}.run();
  }
};

TEST_F(SealedRequests, KeepTheirAnswersSealedWhereTheyHaveNoCallback) {
  HttpServer server{[](const ServedRequest& request) {
    return answer(200, std::string(request.target.ends_with("large") ? 1'040'000 : 10, 'x'));
  }};
  const PayloadOptions payloads{.blobs = blobs(), .keyring = ring()};
  Client client{engine_, {.payloads = payloads}};
  const auto small = client.get(server.url("/secret?small"));
  const auto large = client.get(server.url("/secret?large"));
  EXPECT_FALSE(client.answer(small)) << "it is not there yet";
  run(payloads);
  for (const auto id : {small, large}) {
    const auto result = inspector_.task(id)->result;
    EXPECT_THAT(result, Not(HasSubstr("secret")));
    EXPECT_THAT(result, Not(HasSubstr("xxx")));
    EXPECT_EQ(boost::json::parse(result).at("status").as_int64(), 200) << "that is counted";
  }
  EXPECT_EQ(client.answer(small)->body.size(), 10u);
  EXPECT_EQ(client.answer(large)->body.size(), 1'040'000u) << "more than a result can have";
  EXPECT_THROW(client_.answer(small), InvalidRequest) << "it has no key";
}

TEST_F(SealedRequests, AnswersOfRequestsWithoutACallbackAreReadAsTheyAreKept) {
  HttpServer server{[](const ServedRequest&) { return answer(200, "plain"); }};
  const auto id = client_.get(server.url());
  const auto called_back = client_.get(server.url(), call("x"));
  run({});
  EXPECT_EQ(client_.answer(id)->body, "plain");
  EXPECT_FALSE(client_.answer(called_back)) << "the callback has it";
  EXPECT_FALSE(client_.answer(TaskId::make()));
}

TEST_F(SealedRequests, BlobsOfResultsAreSweptWhenNothingNamesThem) {
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(100'000, 'x')); }};
  const PayloadOptions payloads{.blobs = blobs()};
  Client client{engine_, {.payloads = payloads}};
  const auto id = client.get(server.url());
  run(payloads);
  ASSERT_EQ(payloads.blobs->list().size(), 1u);
  payloads.blobs->put(result_key(engine_, id), "of an attempt that died before it was its result");
  payloads.blobs->put(result_key(engine_, TaskId::make()), "of a task that history has let go");
  EXPECT_EQ(sweep(engine_, *payloads.blobs, std::chrono::hours{1}), 0) << "too young";
  EXPECT_EQ(sweep(engine_, *payloads.blobs, std::chrono::seconds{0}), 2);
  EXPECT_EQ(client.answer(id)->body.size(), 100'000u);
}

/// Blobs that do not answer until they are told to; how many were asked for at once is counted.
class SilentBlobs {
 public:
  explicit SilentBlobs(std::shared_ptr<BlobStore> blobs)
      : blobs_{std::make_shared<test::HinderedBlobs>(std::move(blobs), [this](std::string_view) {
          ++waiting_;
          answers_.wait();
          --waiting_;
        })} {}
  const std::shared_ptr<BlobStore>& blobs() const { return blobs_; }
  int waiting() const { return waiting_; }
  void answer() { answers_.count_down(); }

 private:
  std::atomic<int> waiting_ = 0;
  std::latch answers_{1};
  std::shared_ptr<BlobStore> blobs_;
};

class SilentBlobsTest : public SealedRequests {
 protected:
  /// Everything that has nothing to do with blobs is performed while these are silent, and several
  /// of those wait at once; then the rest is performed, too.
  void expect_others_go_on(int large, int small) {
    auto options = lenient();
    options.payloads.blobs = silent_.blobs();
    Processor processor{engine_, options};
    std::jthread running{[&] { processor.run(); }};
    const auto completed = [&](const std::string& tag) {
      return inspector_.count({.states = {TaskState::completed}, .kind = request_kind, .tag = tag});
    };
    EXPECT_TRUE(test::eventually([&] { return completed("small") == small; })) << "they wait";
    EXPECT_TRUE(test::eventually([&] { return silent_.waiting() > 1; })) << "one at a time";
    EXPECT_EQ(completed("large"), 0);
    silent_.answer();
    running.join();
    EXPECT_EQ(completed("large"), large);
    EXPECT_EQ(call_back({.blobs = blobs()}).responses.size(),
              static_cast<std::size_t>(large + small));
  }
  Client client_for(const std::string& tag, const PayloadOptions& payloads = {}) {
    return Client{engine_, {.task = {.tags = {tag}}, .payloads = payloads}};
  }

  SilentBlobs silent_{blobs()};
};

TEST_F(SilentBlobsTest, KeepOnlyThoseWaitingWhoseRequestsAreInThem) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  for (int i = 0; i < 10; ++i) {
    auto large = call(fmt::format("large {}", i));
    large.body = std::string(100'000, 'x');
    client_for("large", {.blobs = blobs()}).post(server.url(), large);
    client_for("small").get(server.url(), call(fmt::format("small {}", i)));
  }
  expect_others_go_on(10, 10);
}

TEST_F(SilentBlobsTest, KeepOnlyThoseWaitingWhoseAnswersGoThere) {
  HttpServer server{[](const ServedRequest& request) {
    return answer(200, std::string(request.target == "/large" ? 100'000 : 10, 'x'));
  }};
  for (int i = 0; i < 10; ++i) {
    client_for("large").get(server.url("/large"), call(fmt::format("large {}", i)));
    client_for("small").get(server.url("/small"), call(fmt::format("small {}", i)));
  }
  expect_others_go_on(10, 10);
}

TEST_F(SilentBlobsTest, DoNotKeepAStoppedProcessorFromGivingItsRequestsBack) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  for (int i = 0; i < 30; ++i) {
    auto large = call(std::to_string(i));
    large.body = std::string(100'000, 'x');
    client_for("large", {.blobs = blobs()}).post(server.url(), large);
  }
  auto options = lenient();
  options.payloads.blobs = silent_.blobs();
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] { return silent_.waiting() > 1; }));
  processor.stop();
  silent_.answer();
  running.join();
  EXPECT_EQ(inspector_.count({.states = {TaskState::running}}), 0);
  for (const auto& task : inspector_.tasks({.states = {TaskState::pending}}))
    EXPECT_EQ(task.attempt, 0) << "it was not sent";
  options.payloads.blobs = blobs();
  EXPECT_EQ(perform(options).responses.size(), 30u);
}

}  // namespace
}  // namespace holdfast::http
