#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <fmt/format.h>
#include <boost/json/parse.hpp>

#include "http/forget.hpp"
#include "http/processor_scenario.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::Reply;
using test::ServedRequest;
using testing::HasSubstr;

using ProcessorTest = ProcessorScenario;

TEST_F(ProcessorTest, PerformsEveryMethodAndTellsTheCallback) {
  HttpServer server{[](const ServedRequest& request) {
    return answer(200, fmt::format("{} {} {}", request.method, request.target, request.body),
                  "X-Kind: test\r\n");
  }};
  client_.get(server.url("/a"), [&] {
    auto with_parameters = call("get");
    with_parameters.params = {{"q", "x y"}};
    return with_parameters;
  }());
  auto with_body = [&](const std::string& name) {
    auto sent = call(name);
    sent.body = "the " + name;
    return sent;
  };
  client_.post(server.url("/b"), with_body("post"));
  client_.put(server.url("/c"), with_body("put"));
  client_.patch(server.url("/d"), with_body("patch"));
  client_.delete_(server.url("/e"), call("delete"));
  client_.head(server.url("/f"), call("head"));
  auto told = perform();
  EXPECT_EQ(told.calls, 6);
  EXPECT_EQ(told.responses["get"].body, "GET /a?q=x%20y ");
  EXPECT_EQ(told.responses["post"].body, "POST /b the post");
  EXPECT_EQ(told.responses["put"].body, "PUT /c the put");
  EXPECT_EQ(told.responses["patch"].body, "PATCH /d the patch");
  EXPECT_EQ(told.responses["delete"].body, "DELETE /e ");
  EXPECT_EQ(told.responses["head"].status, 200);
  EXPECT_EQ(told.responses["head"].header("x-kind"), "test");
}

/// In a process of its own, because it gives its files away for good.
TEST_F(ProcessorTest, OneThatCouldNotStartIsStoppedAndMayTryAgain) {
  Processor processor{engine_, lenient()};
  const auto child = ::fork();
  if (child == 0) {
    const rlimit few{64, 64};
    int refusals = ::setrlimit(RLIMIT_NOFILE, &few) == 0 ? 0 : -1;
    for (int i = 0; i < 2; ++i) try {
        processor.run();
      } catch (const ConfigError&) {
        if (processor.state() == ProcessorState::stopped) ++refusals;
      } catch (const InvalidRequest&) {  // that it runs once only
      }
    ::_exit(refusals);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST_F(ProcessorTest, WhatCannotBeReadFailsAndSaysWhatIsMissing) {
  PayloadOptions sealed;
  sealed.keyring = {.current = "k", .keys = {{"k", std::string(32, 'k')}}};
  Client client{engine_, {.persistence = {.attempts = 1}, .payloads = sealed}};
  auto id = client.get("http://127.0.0.1:1/", call("x"));
  EXPECT_EQ(perform().calls, 0) << "nobody knows whom to tell";
  EXPECT_EQ(inspector_.task(id)->state, TaskState::failed);
  EXPECT_THAT(inspector_.task(id)->error, HasSubstr("key 'k', which is not in the keyring"));
}

TEST_F(ProcessorTest, FollowsRedirectsAndLeavesCredentialsBehind) {
  std::map<std::string, std::string> seen;
  HttpServer other{[&](const ServedRequest& request) {
    seen = request.headers;
    return answer(200, request.method + " " + request.body);
  }};
  HttpServer server{[&](const ServedRequest& request) {
    if (request.target == "/first") return answer(307, "", "Location: /second\r\n");
    return answer(303, "", fmt::format("Location: {}\r\n", other.url("/third")));
  }};
  auto posted = call("x");
  posted.headers = {{"authorization", "mine"}, {"content-type", "text/plain"}, {"accept", "a/b"}};
  posted.body = "content";
  client_.post(server.url("/first"), posted);
  auto response = perform().responses["x"];
  EXPECT_EQ(response.body, "GET ");
  EXPECT_EQ(response.url, other.url("/third"));
  EXPECT_THAT(response.redirects,
              testing::ElementsAre(server.url("/first"), server.url("/second")));
  EXPECT_FALSE(seen.contains("authorization"));
  EXPECT_FALSE(seen.contains("content-type"));
  EXPECT_EQ(seen["accept"], "a/b");
}

TEST_F(ProcessorTest, SignsEveryHopAnewAndNoneAtAnotherOrigin) {
  std::vector<ServedRequest> seen;
  auto keep = [&](const ServedRequest& request, Reply reply) {
    seen.push_back(request);
    return reply;
  };
  HttpServer other{[&](const ServedRequest& request) { return keep(request, answer(200)); }};
  HttpServer server{[&](const ServedRequest& request) {
    if (request.target == "/first") return keep(request, answer(303, "", "Location: /second\r\n"));
    return keep(request, answer(307, "", fmt::format("Location: {}\r\n", other.url("/third"))));
  }};
  auto posted = call("x");
  posted.body = "content";
  posted.sign_with = "main";
  client_.post(server.url("/first"), posted);
  const std::string key(32, 'k');
  auto options = lenient();
  options.signing_keys["main"] = {{key, bound_to(server)}};
  perform(options);
  ASSERT_EQ(seen.size(), 3u);
  for (int hop : {0, 1}) {
    const auto& headers = seen[static_cast<std::size_t>(hop)].headers;
    auto at =
        std::chrono::sys_seconds{std::chrono::seconds{std::stoll(headers.at("webhook-timestamp"))}};
    EXPECT_TRUE(verify_signature(headers.at("webhook-signature"), headers.at("webhook-id"), at,
                                 hop == 0 ? "content" : "", {key}, at))
        << hop;
  }
  for (const auto* header : {"webhook-id", "webhook-timestamp", "webhook-signature"})
    EXPECT_FALSE(seen[2].headers.contains(header)) << header;
}

TEST_F(ProcessorTest, TriesAgainAsTheServerAsksAndKeepsTheKey) {
  std::vector<std::string> keys;
  HttpServer server{[&](const ServedRequest& request) {
    keys.push_back(request.headers.at("idempotency-key"));
    return keys.size() < 3 ? answer(503, "", "Retry-After: 1\r\n") : answer(200, "at last");
  }};
  Client client{engine_, {.persistence = {.backoff = {.first = std::chrono::hours{1}}}}};
  client.post(server.url(), call("x"));
  EXPECT_EQ(perform().responses["x"].body, "at last");
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[0], keys[2]);
}

TEST_F(ProcessorTest, WithoutACallbackTheAnswerStaysWithTheTask) {
  HttpServer server{[](const ServedRequest&) { return answer(200, "kept"); }};
  auto id = client_.get(server.url());
  perform();
  auto result = boost::json::parse(inspector_.task(id)->result);
  EXPECT_EQ(response_from_json(result.at("response")).body, "kept");
}

TEST_F(ProcessorTest, CapacityIsNeverExceededAndTheRestWaitsInTheStore) {
  HttpServer server{[](const ServedRequest&) {
    auto slow = answer(200);
    slow.after = Millis{20};
    return slow;
  }};
  for (int i = 0; i < 30; ++i) client_.get(server.url(), call(std::to_string(i)));
  auto options = lenient();
  options.capacity = 5;
  EXPECT_EQ(perform(options).responses.size(), 30u);
  EXPECT_LE(server.most_at_once(), 5);
  EXPECT_GT(server.most_at_once(), 1);
}

TEST_F(ProcessorTest, QuietLetsRequestsEndAndStopGivesThemBackUncharged) {
  HttpServer server{[](const ServedRequest& request) {
    auto slow = answer(200);
    slow.after = Millis{30};
    slow.never = request.target == "/never";
    return slow;
  }};
  client_.get(server.url("/slow"), call("slow"));
  auto never = client_.get(server.url("/never"), call("never"));
  auto options = lenient();
  options.until_empty = false;
  Processor processor{engine_, options};
  EXPECT_EQ(processor.state(), ProcessorState::stopped);
  std::jthread stopper{[&] {
    EXPECT_TRUE(test::eventually([&] { return server.served() == 2; }));
    EXPECT_EQ(processor.state(), ProcessorState::running);
    processor.quiet();
    EXPECT_EQ(processor.state(), ProcessorState::stopping);
  }};
  auto summary = processor.run();
  EXPECT_EQ(processor.state(), ProcessorState::stopped);
  EXPECT_EQ(summary.tasks.given_back, 1);
  EXPECT_EQ(inspector_.task(never)->state, TaskState::pending);
  EXPECT_EQ(inspector_.task(never)->attempt, 0);
  EXPECT_EQ(call_back().responses.size(), 1u);
  EXPECT_THROW(processor.run(), InvalidRequest);
}

TEST_F(ProcessorTest, LargeAnswersGoToBlobsWhichAreRemovedWithTheCallback) {
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(200'000, 'x')); }};
  auto options = lenient();
  options.payloads.blobs = open_blobs("dir:" + (store_.folder() / "blobs").string());
  options.payloads.keyring = {.current = "k", .keys = {{"k", std::string(32, 'k')}}};
  Client client{engine_, {.payloads = options.payloads}};
  auto sent = call("x");
  sent.body = std::string(100'000, 'y');
  client.post(server.url(), sent);
  EXPECT_EQ(options.payloads.blobs->list().size(), 1u);
  Processor{engine_, options}.run();
  EXPECT_EQ(options.payloads.blobs->list().size(), 1u) << "the request's is gone, the answer's is "
                                                          "there";
  EXPECT_EQ(call_back(options.payloads).responses["x"].body.size(), 200'000u);
  EXPECT_EQ(options.payloads.blobs->list().size(), 1u) << "gone only in a step of its own";
  Processor{engine_, options}.run();
  EXPECT_TRUE(options.payloads.blobs->list().empty());
}

TEST_F(ProcessorTest, BlobsWithoutATaskAreSwept) {
  auto blobs = open_blobs("dir:" + (store_.folder() / "blobs").string());
  auto needed = blob_key(engine_, client_.get("http://127.0.0.1:1/"));
  auto made_before = TaskId::make().text();
  blobs->put(needed, "needed");
  blobs->put(blob_key(engine_, TaskId::make()), "orphan");
  blobs->put("not-ours", "kept");
  blobs->put(made_before, "kept");
  EXPECT_EQ(sweep(engine_, *blobs, std::chrono::hours{1}), 0) << "too young";
  EXPECT_EQ(sweep(engine_, *blobs, std::chrono::seconds{0}), 1);
  EXPECT_TRUE(blobs->get(needed));
  EXPECT_TRUE(blobs->get("not-ours"));
  EXPECT_TRUE(blobs->get(made_before)) << "nobody knows which store it belongs to";
}

TEST_F(ProcessorTest, BlobsOfAnotherStoreAreLeftToIt) {
  PayloadOptions payloads{.blobs = open_blobs("dir:" + (store_.folder() / "blobs").string())};
  test::TempStore other;
  Client client{open(other.address()), {.payloads = payloads}};
  auto large = call("x");
  large.body = std::string(100'000, 'x');
  client.post("http://127.0.0.1:1/", large);
  ASSERT_EQ(payloads.blobs->list().size(), 1u);
  EXPECT_EQ(sweep(engine_, *payloads.blobs, std::chrono::seconds{0}), 0);
  EXPECT_EQ(payloads.blobs->list().size(), 1u);
}

TEST_F(ProcessorTest, AStoreThatWasMovedAwayLeavesTheBlobsToTheOther) {
  auto blobs = open_blobs("dir:" + (store_.folder() / "blobs").string());
  blobs->put(blob_key(engine_, TaskId::make()), "of a task that is elsewhere now");
  engine_.parts().transfer().set_note(MoveNote{.to = "elsewhere:1", .move = "m"});
  EXPECT_EQ(sweep(engine_, *blobs, std::chrono::seconds{0}), 0);
  engine_.parts().transfer().set_note({});
  EXPECT_EQ(sweep(engine_, *blobs, std::chrono::seconds{0}), 1) << "and nobody moves it";
}

TEST_F(ProcessorTest, OrphanBlobsAreLookedForAgainAndAgain) {
  auto options = lenient();
  options.until_empty = false;
  options.payloads.blobs = open_blobs("dir:" + (store_.folder() / "blobs").string());
  options.payloads.orphan_age = std::chrono::seconds{1};
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  for (int round = 0; round < 2; ++round) {
    auto& blobs = *options.payloads.blobs;
    blobs.put(blob_key(engine_, TaskId::make()), "orphan");
    EXPECT_TRUE(test::eventually([&] { return blobs.list().empty(); }, std::chrono::seconds{60}));
  }
  processor.stop();
}

TEST_F(ProcessorTest, AnAnswerThatDoesNotFitIntoAPayloadIsAnError) {
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(999'999, '\xff')); }};
  client_.get(server.url(), call("x"));
  EXPECT_EQ(perform().errors["x"].type, ErrorType::response_too_large);
}

TEST_F(ProcessorTest, WhatMayHaveBeenSentIsSentAgainOnlyByAnOperatorsWord) {
  HttpServer server{[](const ServedRequest&) {
    static int seen = 0;
    auto reply = answer(200, "done");
    if (++seen == 1)
      reply = {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
               .then = Reply::Then::reset};
    return reply;
  }};
  Client client{engine_};
  auto once = call("x");
  once.on_ambiguous = OnAmbiguous::hold;
  auto id = client.post(server.url(), once);
  perform();
  EXPECT_EQ(inspector_.task(id)->state, TaskState::held);
  EXPECT_THAT(inspector_.task(id)->cause, HasSubstr("may have been sent"));
  EXPECT_EQ(server.served(), 1);
  Inspector{engine_, "alice"}.retry({.ids = {id}});
  EXPECT_EQ(perform().responses["x"].body, "done");
}

TEST_F(ProcessorTest, WhatWasCertainlyNotSentIsTriedAgainEvenIfItMayGoOnlyOnce) {
  auto unused = [] {
    return HttpServer{[](const ServedRequest&) { return answer(200); }}.port();
  }();
  Client client{engine_, {.persistence = {.attempts = 2, .backoff = {.first = Millis{1}}}}};
  auto once = call("x");
  once.on_ambiguous = OnAmbiguous::hold;
  client.post(fmt::format("http://127.0.0.1:{}/", unused), once);
  auto told = perform();
  EXPECT_EQ(told.errors["x"].type, ErrorType::connection);
  EXPECT_EQ(summary_.errors, 2);
}

TEST_F(ProcessorTest, AHostThatIsDownIsNotAskedAndNoAttemptIsCharged) {
  auto unused = [] {
    return HttpServer{[](const ServedRequest&) { return answer(200); }}.port();
  }();
  Client client{engine_, {.persistence = {.attempts = 1}}};
  for (int i = 0; i < 20; ++i)
    client.get(fmt::format("http://127.0.0.1:{}/", unused), call(std::to_string(i)));
  auto options = lenient();
  options.per_host = 1;
  options.breaker = {.failures = 3, .pause = std::chrono::hours{1}};
  options.until_empty = false;
  Processor processor{engine_, options};
  std::jthread stopper{[&] {
    EXPECT_TRUE(test::eventually([&] {
      return inspector_.count({.states = {TaskState::completed}, .kind = request_kind}) == 3 &&
             inspector_.count({.states = {TaskState::pending}, .kind = request_kind}) == 17;
    }));
    processor.stop();
  }};
  processor.run();
  for (const auto& task : inspector_.tasks({.states = {TaskState::pending}, .kind = request_kind}))
    EXPECT_EQ(task.attempt, 0);
}

}  // namespace
}  // namespace holdfast::http
