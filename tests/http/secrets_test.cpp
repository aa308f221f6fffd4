#include "http/processor_scenario.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

using Secrets = ProcessorScenario;

TEST_F(Secrets, SendsWhoItIsAndSecretsThatNoStoreKnows) {
  std::map<std::string, std::string> seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen = request.headers;
    return answer(204);
  }};
  Client client{engine_, {.secret_headers = {{"Authorization", "token"}}}};
  auto signed_call = call("x");
  signed_call.sign_with = "main";
  signed_call.body = "{}";
  auto id = client.post(server.url(), signed_call);
  EXPECT_EQ(inspector_.task(id)->payload.find("s3cret"), std::string::npos);
  auto options = lenient();
  options.secrets = [&](const std::string& name) {
    return Secret{"Bearer s3cret-" + name, bound_to(server)};
  };
  options.signing_keys["main"] = {{std::string(32, 'k'), bound_to(server)}};
  ASSERT_EQ(perform(options).responses.size(), 1u);
  EXPECT_EQ(seen["authorization"], "Bearer s3cret-token");
  EXPECT_EQ(seen["x-request-id"], id.text());
  EXPECT_EQ(seen["idempotency-key"], id.text());
  EXPECT_EQ(seen["user-agent"], "holdfast");
  EXPECT_FALSE(seen.contains("content-type"));
  std::chrono::sys_seconds at{std::chrono::seconds{std::stoll(seen["webhook-timestamp"])}};
  EXPECT_TRUE(verify_signature(seen["webhook-signature"], seen["webhook-id"], at, "{}",
                               {std::string(32, 'k')}, at));
}

TEST_F(Secrets, ASignatureIsAsOldAsItsRequestOnTheWireAndNotAsItsWait) {
  const auto now = [] {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  std::mutex mutex;
  std::vector<std::chrono::seconds> signed_at;
  HttpServer server{[&](const ServedRequest& request) {
    std::lock_guard lock{mutex};
    signed_at.emplace_back(std::stoll(request.headers.at("webhook-timestamp")));
    auto reply = answer(204);
    reply.waits = true;
    return reply;
  }};
  auto signed_call = call("x");
  signed_call.sign_with = "main";
  for (int i = 0; i < 2; ++i) client_.post(server.url(), signed_call);
  auto options = lenient();
  options.signing_keys["main"] = {{std::string(32, 'k'), bound_to(server)}};
  options.per_host = 1;
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] { return processor.in_flight() == 2 && server.served() == 1; }));
  const auto joined = now();
  EXPECT_TRUE(test::eventually([&] { return now() > joined; }));
  server.release();
  running.join();
  ASSERT_EQ(signed_at.size(), 2u);
  EXPECT_GT(signed_at[1], joined.time_since_epoch());
}

TEST_F(Secrets, ARequestForASecretThatIsMissingFailsForGood) {
  Client client{engine_, {.secret_headers = {{"Authorization", "token"}}}};
  auto id = client.get("http://127.0.0.1:1/");
  perform();
  EXPECT_EQ(inspector_.task(id)->state, TaskState::failed);
  EXPECT_THAT(inspector_.task(id)->error, HasSubstr("secret 'token'"));
}

TEST_F(Secrets, CallbacksAreToldOfSecretsAndKeysThatAreMissing) {
  const ClientOptions secret{.secret_headers = {{"Authorization", "token"}}};
  auto needs_secret = Client{engine_, secret}.get("http://127.0.0.1:1/", call("secret"));
  auto unsigned_call = call("key");
  unsigned_call.sign_with = "main";
  Client{engine_}.post("http://127.0.0.1:1/", unsigned_call);
  auto told = perform();
  EXPECT_EQ(told.errors["secret"].type, ErrorType::missing_secret);
  EXPECT_EQ(told.errors["secret"].request_id, needs_secret.text());
  EXPECT_THAT(told.errors["secret"].message, HasSubstr("secret 'token'"));
  EXPECT_EQ(told.errors["key"].type, ErrorType::missing_secret);
  EXPECT_THAT(told.errors["key"].message, HasSubstr("'main', a key"));
  EXPECT_EQ(summary_.errors, 2) << "once each: it would not be there next time either";
}

TEST_F(Secrets, ASecretThatCannotBeReadNowIsLookedUpAgainWithoutACharge) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const ClientOptions with_secret{.secret_headers = {{"Authorization", "soon"}},
                                  .persistence = {.attempts = 1}};
  const auto id = Client{engine_, with_secret}.get(server.url(), call("soon"));
  std::vector<std::string> events;
  engine_.events().subscribe([&](const Event& event) {
    if (const auto* paused = std::get_if<KindPaused>(&event)) events.push_back(paused->why);
    if (std::holds_alternative<KindResumed>(event)) events.emplace_back("resumed");
  });
  auto options = lenient();
  int asked = 0;
  options.secrets = [&](const std::string&) -> Secret {
    if (++asked < 3) throw Error{"its file is empty"};
    return {"s3cret", bound_to(server)};
  };
  const auto told = perform(options);
  EXPECT_EQ(told.responses.at("soon").status, 200);
  EXPECT_EQ(inspector_.task(id)->attempt, 1) << "only the one that was sent";
  EXPECT_EQ(summary_.errors, 0);
  ASSERT_EQ(events.size(), 3u) << "twice, and then it is well";
  EXPECT_THAT(events[0], HasSubstr("'soon', which cannot be read: its file is empty"));
  EXPECT_EQ(events[2], "resumed");
}

TEST_F(Secrets, OneThatCannotBeReadIsToldByTheWorkerAndDoesNotKeepOthersFromBeingSent) {
  constexpr int bad = 3, good = 20;
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const ClientOptions with_secret{.secret_headers = {{"Authorization", "never"}},
                                  .persistence = {.attempts = 1}};
  std::vector<TaskId> waiting;
  for (int i = 0; i < bad; ++i) waiting.push_back(Client{engine_, with_secret}.get(server.url()));
  for (int i = 0; i < good; ++i) client_.get(server.url());
  auto options = lenient();
  options.until_empty = false;
  options.capacity = 4;
  options.secrets = [&](const std::string&) -> Secret { throw Error{"Permission denied"}; };
  Processor processor{engine_, options};
  std::jthread running{[&] { processor.run(); }};
  EXPECT_TRUE(test::eventually([&] { return server.served() == good; }, std::chrono::seconds{60}));
  EXPECT_TRUE(test::eventually(
      [&] {
        const auto workers = inspector_.workers();
        const auto& paused = workers.at(0).paused_kinds;
        return paused.contains(request_kind) &&
               paused.at(request_kind).find("Permission denied") != std::string::npos;
      },
      std::chrono::seconds{60}));
  processor.stop();
  running.join();
  for (auto id : waiting) {
    EXPECT_EQ(inspector_.task(id)->state, TaskState::pending);
    EXPECT_EQ(inspector_.task(id)->attempt, 0);
  }
}

}  // namespace
}  // namespace holdfast::http
