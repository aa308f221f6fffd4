#include "sidekiq/sidekiq_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::eventually;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using SidekiqProcessor = SidekiqScenario;

TEST_F(SidekiqProcessor, PerformsARequestAndPushesTheCallbackForTheApplication) {
  ServedRequest seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen = request;
    return answer(201, "{\"ok\":true}", "Content-Type: application/json; charset=utf-8\r\n");
  }};
  push({.url = server.url("/orders"), .method = "post", .body = "order"});
  auto summary = perform();
  EXPECT_EQ(summary.answered, 1);
  EXPECT_EQ(seen.body, "order");
  EXPECT_EQ(seen.headers.at("x-request-id"), Pushed{}.id);
  EXPECT_EQ(seen.headers.at("idempotency-key"), Pushed{}.id);
  auto jobs = queue();
  ASSERT_THAT(jobs, SizeIs(1));
  EXPECT_EQ(jobs[0].at("class"), callback_class);
  EXPECT_EQ(jobs[0].at("queue"), "default");
  EXPECT_EQ(jobs[0].at("retry"), true);
  EXPECT_EQ(jobs[0].at("jid").as_string().size(), 24u);
  EXPECT_TRUE(jobs[0].at("created_at").is_double());
  const auto& args = jobs[0].at("args").as_array();
  ASSERT_EQ(args.size(), 3u);
  EXPECT_EQ(args[0].at("status"), 201);
  EXPECT_EQ(args[0].at("body").at("value"), "{\"ok\":true}");
  EXPECT_EQ(args[0].at("request_id"), Pushed{}.id.c_str());
  EXPECT_EQ(args[0].at("callback_args").at("user_id"), 7);
  EXPECT_EQ(args[1], "response");
  EXPECT_EQ(args[2], "MyCallback");
  expect_nothing_in_flight();
  EXPECT_EQ(number({"HGET", key("totals"), "http_status:201"}), 1);
  EXPECT_EQ(number({"HGET", key("totals"), "requests"}), 1);
  EXPECT_EQ(number({"GET", "stat:processed"}), 1);
  EXPECT_EQ(number({"SCARD", "processes"}), 0) << "it has left";
  EXPECT_EQ(number({"SCARD", key("processes")}), 0);
}

TEST_F(SidekiqProcessor, TakesHeadersAsApplicationsSetThem) {
  ServedRequest seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen = request;
    return answer(200);
  }};
  auto job = job_of({.url = server.url(), .method = "post", .body = "order"});
  job["args"].as_array()[0].as_object()["headers"] = {
      {"x-version", 3}, {"x-dry", true}, {"Content-Length", "99"}, {"connection", "close"}};
  push_text("default", boost::json::serialize(job));
  EXPECT_EQ(perform().answered, 1);
  EXPECT_EQ(seen.headers.at("x-version"), "3");
  EXPECT_EQ(seen.headers.at("x-dry"), "true");
  EXPECT_EQ(seen.headers.at("content-length"), "5");
  EXPECT_EQ(seen.body, "order");
}

TEST_F(SidekiqProcessor, TakesAddressesAsRubyTakesThem) {
  ServedRequest seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen = request;
    return answer(200);
  }};
  push({.url = server.url("/x?filter[name]=a|b&ids[]=1")});
  EXPECT_EQ(perform().answered, 1);
  EXPECT_EQ(seen.target, "/x?filter%5Bname%5D=a%7Cb&ids%5B%5D=1");
}

TEST_F(SidekiqProcessor, TakesManyFromSeveralQueuesAndNothingElse) {
  HttpServer server{[](const ServedRequest&) { return answer(200, "x"); }};
  for (int i = 0; i < 600; ++i)
    push({.url = server.url(), .id = std::to_string(i), .queue = i % 2 ? "low" : "default"});
  push({.type = "MailJob"});
  auto with = options();
  with.processor.queues = {"default", "low"};
  with.callback_queue = "callbacks";
  EXPECT_EQ(perform(with).callbacks, 600);
  EXPECT_THAT(queue("callbacks"), SizeIs(600));
  EXPECT_THAT(queue(), SizeIs(1));
  EXPECT_EQ(queue().at(0).at("class"), "MailJob");
  EXPECT_THAT(texts({"SMEMBERS", "queues"}), testing::Contains("callbacks"));
}

TEST_F(SidekiqProcessor, PerformsEachOfSeveralRequestsThatHaveTheSameId) {
  std::mutex mutex;
  std::vector<std::string> seen;
  HttpServer server{[&](const ServedRequest& request) {
    std::lock_guard lock{mutex};
    seen.push_back(request.target);
    return answer(200);
  }};
  for (const auto* target : {"/a", "/b", "/c"}) push({.url = server.url(target), .id = "same"});
  auto summary = perform();
  EXPECT_EQ(summary.callbacks, 3);
  EXPECT_EQ(summary.refused, 0);
  EXPECT_THAT(seen, testing::UnorderedElementsAre("/a", "/b", "/c"));
  for (const auto& job : queue()) EXPECT_EQ(job.at("args").at(0).at("request_id"), "same");
  expect_nothing_in_flight();
}

TEST_F(SidekiqProcessor, SpeaksTheDialectOfTheSuccessor) {
  HttpServer server{[](const ServedRequest& request) { return answer(200, request.body); }};
  push({.url = server.url(),
        .method = "post",
        .body = {{"encoding", "binary"}, {"value", "/wAB"}, {"charset", "ASCII-8BIT"}},
        .type = "PatientHttp::Sidekiq::RequestWorker",
        .created_at = 1794711059922});
  http::SidekiqProcessor{address() + "?dialect=patient_http", options()}.run();
  auto job = queue().at(0);
  EXPECT_EQ(job.at("class"), "PatientHttp::Sidekiq::CallbackWorker");
  EXPECT_EQ(job.at("args").at(0).at("body").at("value"), "/wAB");
  EXPECT_TRUE(job.at("created_at").is_int64()) << "milliseconds, as its request has them";
  EXPECT_EQ(number({"HGET", "sidekiq:patient_http:totals", "requests"}), 1);
}

TEST_F(SidekiqProcessor, TellsOfErrorsAndTriesConnectionsAgainFirst) {
  auto with = options();
  auto refused = job_of({.id = "refused"});
  refused["retry_count"] = 1;  // then the next time is seconds away
  push_text("default", boost::json::serialize(refused));
  EXPECT_EQ(perform_until_put_off(with).retried, 1);
  auto waiting = set("retry");
  ASSERT_THAT(waiting, SizeIs(1));
  EXPECT_EQ(waiting[0].at("retry_count"), 2);
  EXPECT_THAT(std::string{waiting[0].at("error_message").as_string()}, HasSubstr("connection"));
  EXPECT_EQ(number({"GET", "stat:failed"}), 1);
  // Its time comes, and it is performed again; now there is nothing left to try.
  redis_.call({"ZADD", "retry", "1", texts({"ZRANGE", "retry", "0", "-1"}).at(0)});
  EXPECT_TRUE(eventually([&] { return perform(with).callbacks == 1; }));
  auto job = queue().at(0);
  EXPECT_EQ(job.at("args").at(1), "error");
  EXPECT_EQ(job.at("args").at(0).at("class_name"), "Errno::ECONNREFUSED");
  EXPECT_EQ(job.at("args").at(0).at("error_type"), "connection");
  EXPECT_EQ(number({"HGET", key("totals"), "errors:connection"}), 1);
  EXPECT_THAT(set("retry"), IsEmpty());
}

TEST_F(SidekiqProcessor, EndsWhenWhatItPutOffItselfIsDoneToo) {
  std::atomic<int> asked = 0;
  HttpServer server{[&](const ServedRequest&) {
    return ++asked == 1 ? test::Reply{.then = test::Reply::Then::reset} : answer(200);
  }};
  push({.url = server.url()});
  auto summary = perform();
  EXPECT_EQ(summary.retried, 1);
  EXPECT_EQ(summary.answered, 1);
  EXPECT_THAT(set("retry"), IsEmpty());
  expect_nothing_in_flight();
}

TEST_F(SidekiqProcessor, RaisesErrorResponsesWhereTheRequestAsksForIt) {
  HttpServer server{[](const ServedRequest&) { return answer(503, "busy"); }};
  push({.url = server.url(), .id = "plain"});
  push({.url = server.url(), .id = "raised", .raise = true});
  EXPECT_EQ(perform().callbacks, 2);
  for (const auto& job : queue()) {
    const auto& data = job.at("args").at(0);
    if (job.at("args").at(1) == "response")
      EXPECT_EQ(data.at("request_id"), "plain");
    else
      EXPECT_EQ(data.at("response").at("status"), 503);
  }
  EXPECT_EQ(number({"HGET", key("totals"), "errors:http_error"}), 1);
  EXPECT_EQ(number({"HGET", key("totals"), "http_status:503"}), 2);
}

TEST_F(SidekiqProcessor, GivesJobsThatCannotBePerformedToSidekiqsRetriesAndItsDead) {
  push({.url = "ftp://a/", .id = "later"});
  push({.url = "ftp://a/", .id = "dead", .retry = 0});
  push({.url = "ftp://a/", .id = "dropped", .retry = false});
  push_text("default", std::string{"{\"class\":\""} + request_class);
  auto summary = perform();
  EXPECT_EQ(summary.retried, 1);
  EXPECT_EQ(summary.died, 2);
  EXPECT_EQ(summary.discarded, 1);
  ASSERT_THAT(set("retry"), SizeIs(1));
  EXPECT_EQ(set("retry")[0].at("error_class"), "ArgumentError");
  EXPECT_GT(redis_.call({"ZRANGE", "retry", "0", "-1", "WITHSCORES"})[1].real(), 1.7e9);
  auto dead = texts({"ZRANGE", "dead", "0", "-1"});
  EXPECT_THAT(dead, SizeIs(2)) << "the one without retries, and what is not JSON";
  EXPECT_THAT(queue(), IsEmpty());
  expect_nothing_in_flight();
}

TEST_F(SidekiqProcessor, RefusesIdsThatNoHeaderCanCarry) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  push({.url = server.url(), .id = "x\r\nX-Evil: 1"});
  push({.url = server.url(), .id = std::string(256, 'x')});
  auto with = options();
  with.processor.until_empty = false;
  Running processor{address(), with};
  ASSERT_TRUE(test::eventually([&] { return number({"ZCARD", "retry"}) == 2; }));
  processor.stop();
  EXPECT_EQ(server.served(), 0);
}

TEST_F(SidekiqProcessor, DeliversToOtherQueuesWhileOneTakesNothing) {
  constexpr int many = 120;
  HttpServer server{[&](const ServedRequest&) {
    redis_.call({"SET", "queue:bad", "not a list"});
    return answer(200);
  }};
  for (int i = 0; i < many; ++i)
    push({.url = server.url(), .id = std::to_string(i), .queue = "bad"});
  push({.url = server.url(), .id = "good", .queue = "good"});
  auto with = options();
  with.processor.queues = {"bad", "good"};
  Running processor{address(), with};
  EXPECT_TRUE(test::eventually([&] {
    std::lock_guard lock{mutex_};
    return errors_.size() == many && number({"LLEN", "queue:good"}) == 1;
  }));
  redis_.call({"DEL", "queue:bad"});
  EXPECT_TRUE(test::eventually([&] { return number({"LLEN", "queue:bad"}) == many; }));
  EXPECT_EQ(processor.stop().callbacks, many + 1);
  EXPECT_THAT(errors_, SizeIs(many)) << "each once, however often it is tried";
}

TEST_F(SidekiqProcessor, ReadsPayloadsThatAreKeptApartAndRemovesThemWithTheCallback) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto job = job_of({.url = server.url()});
  redis_.call({"SET", "async_http_pool:payloads:k", boost::json::serialize(job["args"].at(0))});
  job["args"].as_array()[0] = {{"$ref", {{"store", "redis"}, {"key", "k"}}}};
  push_text("default", boost::json::serialize(job));
  EXPECT_EQ(perform().callbacks, 1);
  EXPECT_EQ(number({"EXISTS", "async_http_pool:payloads:k"}), 0);
}

TEST_F(SidekiqProcessor, WaitsWithoutAskingAndIsThereAtOnce) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto with = options();
  with.processor.until_empty = false;
  Running processor{address(), with};
  ASSERT_TRUE(eventually([&] {
    return redis_.call({"CLIENT", "LIST"}).string().find("cmd=blmove") != std::string::npos;
  }));
  push({.url = server.url()});
  EXPECT_TRUE(eventually([&] { return server.served() == 1; }));
  EXPECT_TRUE(eventually([&] { return number({"HGET", key("totals"), "requests"}) == 1; }));
}

TEST_F(SidekiqProcessor, LeavesTheServerAloneWhereAQueueIsFullOfWhatIsForOthers) {
  for (int i = 0; i < 1'000; ++i) push({.id = std::to_string(i), .type = "MailJob"});
  auto calls = [&](const std::string& command) -> int {
    auto text = redis_.call({"INFO", "commandstats"}).string();
    auto at = text.find("cmdstat_" + command + ":calls=");
    return at == std::string::npos ? 0 : std::stoi(text.substr(text.find('=', at) + 1));
  };
  auto with = options();
  with.processor.until_empty = false;
  Running processor{address(), with};
  ASSERT_TRUE(eventually([&] { return number({"SCARD", "processes"}) == 1; }));
  redis_.call({"CONFIG", "RESETSTAT"});
  // Which it asks every 400 ms, to see who lives.
  ASSERT_TRUE(eventually([&] { return calls("hgetall") >= 6; }));
  EXPECT_LT(calls("evalsha"), 200);
}

TEST_F(SidekiqProcessor, SaysOnceInAWhileThatTheServerRefuses) {
  auto with = options();
  with.processor.until_empty = false;
  Running processor{address(), with};
  ASSERT_TRUE(eventually([&] { return number({"SCARD", "processes"}) == 1; }));
  auto refused = [&] {
    auto errors = redis_.call({"INFO", "errorstats"}).string();
    auto at = errors.find("errorstat_OOM:count=");
    return at == std::string::npos ? 0 : std::stoi(errors.substr(errors.find('=', at) + 1));
  };
  auto before = refused();
  redis_.call({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(eventually([&] { return refused() >= before + 6; }));
  redis_.call({"CONFIG", "SET", "maxmemory", "0"});
  processor.stop();
  std::map<std::string, int> said;
  for (const auto& sentence : infos_)
    if (sentence.find("maxmemory") != std::string::npos) ++said[sentence];
  EXPECT_FALSE(said.empty());
  for (const auto& [sentence, times] : said) EXPECT_EQ(times, 1) << sentence;
}

TEST_F(SidekiqProcessor, GivesBackWhatIsInFlightWhenItIsStopped) {
  HttpServer server{[](const ServedRequest&) { return test::Reply{.never = true}; }};
  auto with = options();
  with.processor.until_empty = false;
  Running processor{address(), with};
  push({.url = server.url()});
  auto text = boost::json::serialize(job_of({.url = server.url()}));
  ASSERT_TRUE(eventually([&] { return server.served() == 1; }));
  EXPECT_EQ(processor.stop().given_back, 1);
  EXPECT_THAT(texts({"LRANGE", "queue:default", "0", "-1"}), testing::ElementsAre(text));
  expect_nothing_in_flight();
}

TEST_F(SidekiqProcessor, AppearsOnSidekiqsPageAndObeysItsButtons) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  auto with = options();
  with.processor.until_empty = false;
  Running processor{address(), with};
  ASSERT_TRUE(eventually([&] { return number({"SCARD", "processes"}) == 1; }));
  auto identity = texts({"SMEMBERS", "processes"}).at(0);
  auto info = boost::json::parse(redis_.call({"HGET", identity, "info"}).string());
  EXPECT_EQ(info.at("identity"), identity.c_str());
  EXPECT_EQ(info.at("concurrency"), 256);
  EXPECT_EQ(redis_.call({"HGET", identity, "quiet"}).text(), "false");
  redis_.call({"LPUSH", identity + "-signals", "TSTP"});
  EXPECT_TRUE(eventually(
      [&] {
        return redis_.call({"HGET", identity, "quiet"}).text() == "true";
      },
      std::chrono::seconds{60}));
  EXPECT_EQ(processor->state(), http::ProcessorState::draining);
  push({.url = server.url()});
  redis_.call({"LPUSH", identity + "-signals", "TERM"});
  processor.join();
  EXPECT_EQ(server.served(), 0) << "it was quiet";
  EXPECT_EQ(number({"SCARD", "processes"}), 0);
}

TEST_F(SidekiqProcessor, TellsItsStateAndWhichHostsItLeavesAlone) {
  for (int i = 0; i < 10; ++i) push({.id = std::to_string(i)});
  auto with = options();
  with.processor.until_empty = false;
  with.retries = 0;
  Running processor{address(), with};
  http::SidekiqStatus status;
  ASSERT_TRUE(eventually(
      [&] {
        status = http::sidekiq_status(address());
        // The callbacks, which nobody takes.
        return !status.left_alone.empty() && status.queues["default"] == 10;
      },
      std::chrono::seconds{60}));
  EXPECT_EQ(status.left_alone[0].host, "127.0.0.1:1");
  EXPECT_GE(status.left_alone[0].failures, 10);
  EXPECT_THAT(status.left_alone[0].why, HasSubstr("refused"));
  ASSERT_THAT(status.processes, SizeIs(1));
  EXPECT_EQ(status.processes[0].state, "running");
  processor.stop();
  EXPECT_THAT(http::sidekiq_status(address()).left_alone, IsEmpty());
  EXPECT_THAT(texts({"KEYS", key("holdfast:standing:*")}), IsEmpty());
}

TEST_F(SidekiqProcessor, NeedsTheRightsThatAreDocumented) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  redis_.call({"ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@read", "+@write",
               "+@scripting", "+@connection", "+info", "+time", "+client|list"});
  push({.url = server.url(), .id = "performed"});
  push({.url = "http://127.0.0.1:1/", .id = "refused"});
  auto limited = fmt::format("sidekiq+redis://limited:secret@127.0.0.1:{}", redis_.port());
  auto with = options();
  with.retries = 1;
  auto summary = http::SidekiqProcessor{limited, with}.run();
  EXPECT_EQ(summary.callbacks, 2);
  EXPECT_EQ(summary.retried, 1);
  EXPECT_THAT(infos_, testing::Not(testing::Contains(HasSubstr("NOPERM"))));
  EXPECT_THAT(http::sidekiq_status(limited).processes, IsEmpty());
  redis_.call({"ACL", "DELUSER", "limited"});
}

TEST_F(SidekiqProcessor, RefusesAClusterAndAServerThatEvictsKeys) {
  test::RedisServer node{{.cluster = true}};
  EXPECT_THROW(http::SidekiqProcessor("sidekiq+" + node.sidekiq_address(), options()),
               StoreUnusable);
  test::RedisServer forgetful{
      {.more = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}}};
  EXPECT_THROW(http::SidekiqProcessor("sidekiq+" + forgetful.sidekiq_address(), options()),
               StoreUnusable);
  EXPECT_THROW(open(address()), ConfigError) << "there are no tasks in it";
}

}  // namespace
}  // namespace holdfast::sidekiq
