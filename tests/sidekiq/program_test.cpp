#include <filesystem>
#include <fstream>

#include "sidekiq/program_scenario.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;
using testing::SizeIs;

/// What the program makes of its options.
using SidekiqOptionsOfTheProgram = SidekiqProgram;

TEST_F(SidekiqOptionsOfTheProgram, TakeAnswersForErrorsWhereTheRequestDoesNotSay) {
  HttpServer server{[](const ServedRequest&) { return answer(404); }};
  push({.url = server.url(), .id = "says nothing"});
  push({.url = server.url(), .id = "says no", .raise = false});
  const auto done = test::run(run_command({"--raise"}));
  ASSERT_TRUE(done.ending.ok()) << done.err;
  ASSERT_THAT(queue(), SizeIs(2));
  for (const auto& job : queue()) {
    const auto& args = job.at("args").as_array();
    const bool raised = args[1] == "error";
    const auto& response = raised ? args[0].at("response") : args[0];
    EXPECT_EQ(response.at("request_id"), raised ? "says nothing" : "says no");
  }
}

TEST_F(SidekiqOptionsOfTheProgram, LimitHowOftenARequestMayDieWithItsProcess) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  push({.url = server.url()});
  ASSERT_EQ(run_program("http_before_send").ending.signal, SIGKILL);
  const auto done = test::run(run_command({"--max-recoveries", "0"}));
  ASSERT_TRUE(done.ending.ok()) << done.err;
  EXPECT_THAT(set("dead"), SizeIs(1));
  EXPECT_EQ(server.served(), 0);
}

TEST_F(SidekiqOptionsOfTheProgram, WarnOfSecretsWithoutABindingOrRefuseThem) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  const test::TempStore place;
  const auto folder = place.folder() / "secrets";
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "token"} << "s3cret\n";
  auto job = job_of({.url = server.url()});
  job["args"].as_array()[0].as_object()["headers"] = {{"x-api-key", {{"$secret", "token"}}}};
  push_text("default", boost::json::serialize(job));
  const auto allowed = test::run(run_command({"--secrets", folder.string()}));
  ASSERT_TRUE(allowed.ending.ok()) << allowed.err;
  EXPECT_THAT(allowed.err, HasSubstr("secrets without a binding go wherever a job asks for"));
  EXPECT_THAT(allowed.err, HasSubstr("token.bind with the line 'host api.example.org'"));
  EXPECT_EQ(server.served(), 1);
  push_text("default", boost::json::serialize(job));
  const auto refused =
      test::run(run_command({"--secrets", folder.string(), "--require-bound-secrets"}));
  ASSERT_TRUE(refused.ending.ok()) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("secrets without a binding are not sent: token"));
  EXPECT_EQ(server.served(), 1);
  ASSERT_THAT(set("retry"), SizeIs(1));
  std::ofstream{folder / "token.bind"} << "host http://127.0.0.1:" << server.port() << "\n";
  push_text("default", boost::json::serialize(job));
  const auto bound =
      test::run(run_command({"--secrets", folder.string(), "--require-bound-secrets"}));
  EXPECT_EQ(bound.err.find("binding"), std::string::npos) << bound.err;
  EXPECT_EQ(server.served(), 2);
}

TEST_F(SidekiqOptionsOfTheProgram, RefuseACollectorThatWouldGetNothing) {
  push({});
  const auto done = test::run(run_command({"--otlp", "http://127.0.0.1:4318"}));
  EXPECT_EQ(done.ending.code, 1);
  EXPECT_THAT(done.err, HasSubstr("--otlp: spans are of attempts of tasks"));
  EXPECT_THAT(queue(), SizeIs(1));
}

}  // namespace
}  // namespace holdfast::sidekiq
