// What answers look like, and what is made of them.

#include <fmt/format.h>

#include "http/compression.hpp"
#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

using Answers = ProcessorScenario;

TEST_F(Answers, TheLengthOfWhatWasNotSentIsNoReasonToRefuseIt) {
  HttpServer server{[](const ServedRequest& request) -> test::Reply {
    if (request.target == "/unchanged")
      return {.bytes = "HTTP/1.1 304 Not Modified\r\nContent-Length: 5000000\r\n\r\n"};
    if (request.target == "/moved")
      return answer(302, std::string(2'000'000, 'x'), "Location: /there\r\n");
    if (request.target == "/trailer")
      return {.bytes =
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "1\r\nx\r\n0\r\nContent-Length: 5000000\r\n\r\n"};
    return answer(200, "there");
  }};
  for (const auto* path : {"/unchanged", "/moved", "/trailer"})
    client_.get(server.url(path), call(path));
  auto told = perform();
  EXPECT_THAT(told.errors, testing::IsEmpty());
  EXPECT_EQ(told.responses["/unchanged"].status, 304);
  EXPECT_EQ(told.responses["/moved"].body, "there");
  EXPECT_EQ(told.responses["/trailer"].body, "x");
}

TEST_F(Answers, WhatIsCompressedIsDecodedAndNothingSpeaksOfThatAnyMore) {
  HttpServer server{[](const ServedRequest& request) {
    EXPECT_EQ(request.headers.at("accept-encoding"), "gzip, br, deflate");
    return answer(200, compress("hello", true), "Content-Encoding: gzip\r\n");
  }};
  client_.get(server.url(), call("x"));
  auto told = perform();
  EXPECT_EQ(told.responses["x"].body, "hello");
  EXPECT_EQ(told.responses["x"].header("content-encoding"), "");
  EXPECT_EQ(told.responses["x"].header("content-length"), "");
}

TEST_F(Answers, ThatCannotBeReadAreAnswersToWhatMustNotBeDoneTwice) {
  std::map<std::string, int> asked;
  HttpServer server{[&](const ServedRequest& request) {
    ++asked[request.method + request.target];
    const bool gzip = request.target.ends_with("gzip");
    auto packed = gzip ? compress("hello", true) : "no brotli";
    packed.back() = '?';
    const int status = request.target.starts_with("/busy") ? 503 : 201;
    return answer(status, packed, fmt::format("Content-Encoding: {}\r\n", gzip ? "gzip" : "br"));
  }};
  Client client{engine_, {.persistence = {.attempts = 3, .backoff = {.first = Millis{1}}}}};
  for (const auto* path : {"/gzip", "/br", "/busy/gzip"}) {
    client.post(server.url(path), call(std::string{"POST"} + path));
    client.get(server.url(path), call(std::string{"GET"} + path));
    client.patch(server.url(path), call(std::string{"PATCH"} + path));
  }
  auto told = perform();
  EXPECT_EQ(told.calls, 9);
  for (const auto& [what, times] : asked) {
    EXPECT_EQ(told.errors[what].type, ErrorType::response_damaged) << told.errors[what].message;
    const bool may_be_repeated = what.starts_with("GET") || what.find("busy") != std::string::npos;
    EXPECT_EQ(times, may_be_repeated ? 3 : 1) << what;
  }
  EXPECT_THAT(told.errors["POST/gzip"].message, HasSubstr("answered 201"));
}

TEST_F(Answers, OfTwoPlacesToGoToTheFirstCounts) {
  HttpServer server{[](const ServedRequest& request) {
    return request.target == "/" ? answer(302, "", "Location: /one\r\nLocation: /two\r\n")
                                 : answer(200, request.target);
  }};
  client_.get(server.url(), call("x"));
  EXPECT_EQ(perform().responses["x"].body, "/one");
}

TEST_F(Answers, ABodyOfControlCharactersDoesNotBecomeManyTimesAsLarge) {
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(300'000, '\0')); }};
  client_.get(server.url(), call("x"));
  EXPECT_EQ(perform().responses["x"].body, std::string(300'000, '\0'));
}

TEST_F(Answers, BlobsAreRemovedWhateverQueuesAProcessorHas) {
  HttpServer server{[](const ServedRequest&) { return answer(200, std::string(200'000, 'x')); }};
  auto options = lenient();
  options.queues = {"web"};
  options.payloads.blobs = open_blobs("dir:" + (store_.folder() / "blobs").string());
  ClientOptions client;
  client.task.queue = "web";
  client.payloads = options.payloads;
  Client{engine_, client}.get(server.url(), call("x"));
  EXPECT_EQ(perform(options).responses["x"].body.size(), 200'000u);
  EXPECT_EQ(options.payloads.blobs->list("").size(), 1u);
  Processor{engine_, options}.run();
  EXPECT_TRUE(options.payloads.blobs->list("").empty());
}

TEST_F(Answers, ARedirectThatIsNotFollowedIsAnAnswerWithItsPage) {
  HttpServer server{
      [](const ServedRequest&) { return answer(302, "page", "Location: /there\r\n"); }};
  auto stay = call("x");
  stay.max_redirects = 0;
  client_.get(server.url(), stay);
  EXPECT_EQ(perform().responses["x"].body, "page");
}

TEST_F(Answers, ACallbackWithAContextOfAnotherShapeIsHeld) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  client_.get(server.url(), callback("keep", 7));
  Call without_context;
  without_context.callback = "keep";
  client_.get("http://127.0.0.1:1/", without_context);
  EXPECT_EQ(perform().calls, 0);
  auto failed = inspector_.tasks({.kind = "keep"});
  ASSERT_EQ(failed.size(), 2u);
  for (const auto& task : failed) {
    EXPECT_EQ(task.state, TaskState::held);
    EXPECT_EQ(task.attempt, 1);
    EXPECT_THAT(task.cause, HasSubstr("context of the request does not fit its type"));
    EXPECT_THAT(task.cause, testing::Not(HasSubstr("/usr/include")));
  }
}

TEST_F(Answers, CallbacksDoNotTakeWhatIsTheProcessors) {
  Tasks tasks{engine_};
  for (const auto* kind : {"holdfast.http", "holdfast.http.forget"})
    EXPECT_THROW(on(tasks, kind, {.on_complete = [](const Response&, Attempt&) {}}),
                 InvalidRequest);
  EXPECT_TRUE(tasks.handlers().empty());
}

}  // namespace
}  // namespace holdfast::http
