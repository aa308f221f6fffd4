#include <holdfast/http/payloads.hpp>

#include <boost/json/parse.hpp>

#include "http/forget.hpp"
#include "http/processor_scenario.hpp"

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

}  // namespace
}  // namespace holdfast::http
