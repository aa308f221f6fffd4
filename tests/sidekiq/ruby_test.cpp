#include <fstream>

#include "http/base64.hpp"
#include "sidekiq/program_scenario.hpp"

namespace holdfast::sidekiq {
namespace {

using test::answer;
using test::eventually;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

/// Debian's Sidekiq on both sides of Holdfast.
class RealSidekiq : public SidekiqProgram {
 protected:
  test::Environment environment() const {
    return {{"REDIS_URL", redis_.admin_address() + "/0"}, {"RESULTS", results()}};
  }
  std::string results() const { return folder_.folder() / "results"; }
  test::Finished ruby(const std::string& program, const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> command{"/usr/bin/ruby", SIDEKIQ_RUBY "/" + program};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto done = test::run(command, environment());
    EXPECT_TRUE(done.ending.ok()) << done.err;
    return done;
  }
  boost::json::value look(const std::string& then = {}) {
    return boost::json::parse(ruby("look.rb", {then}).out);
  }
  /// What the application was told, by the number of its request.
  std::map<std::int64_t, boost::json::value> told() const {
    std::map<std::int64_t, boost::json::value> all;
    std::ifstream file{results()};
    for (std::string line; std::getline(file, line);) {
      auto json = boost::json::parse(line);
      all[json.at("args").at("number").as_int64()] = json;
    }
    return all;
  }

  test::TempStore folder_;
};

TEST_F(RealSidekiq, ItsClientEnqueuesHoldfastPerformsAndItsServerRunsTheCallbacks) {
  std::string large(10'000, 'z');
  std::vector<std::string> seen;
  HttpServer server{[&](const ServedRequest& request) {
    seen.push_back(request.body + request.headers.at("x-from"));
    if (request.target == "/large") return answer(200, large, "Content-Type: text/plain\r\n");
    if (request.target == "/bytes") return answer(200, "\xff\xfe", "Content-Type: text/html\r\n");
    return answer(404, "{}", "Content-Type: application/json\r\n");
  }};
  ruby("enqueue.rb", {server.url("/large"), server.url("/bytes"), server.url("/missing"),
                      "https://127.0.0.1:1/"});
  auto performed = test::run(run_command({"--retries", "0"}));
  ASSERT_TRUE(performed.ending.ok()) << performed.err;
  EXPECT_THAT(seen, testing::Contains("order 0 \xc3\xa9ruby"));
  test::Process sidekiq{{"/usr/bin/sidekiq", "-r", SIDEKIQ_RUBY "/callbacks.rb", "-c", "2"},
                        environment()};
  ASSERT_TRUE(eventually([&] { return told().size() == 4; }, std::chrono::seconds{60}))
      << sidekiq.out() << sidekiq.err();
  auto all = told();
  EXPECT_EQ(all[0].at("status"), 200);
  EXPECT_EQ(all[0].at("callback"), "KeepAnswer");
  EXPECT_EQ(all[0].at("request_id"), "r-0");
  auto body = [&](std::int64_t number) {
    return http::from_base64(std::string{all[number].at("body").as_string()});
  };
  EXPECT_EQ(body(0), large);
  EXPECT_EQ(body(1), "\xff\xfe") << "bytes that are not text arrive as they are";
  EXPECT_EQ(all[2].at("status"), 404);
  EXPECT_EQ(all[3].at("type"), "error");
  EXPECT_EQ(all[3].at("error"), "Errno::ECONNREFUSED");
}

TEST_F(RealSidekiq, ItsPageShowsTheProcessorItsRetriesAndItsDeadAndCanStopIt) {
  push({.url = "ftp://a/", .id = "later"});
  push({.url = "ftp://a/", .id = "dead", .retry = 0});
  std::vector<std::string> lasting{HOLDFAST_PROGRAM, "--store", address(), "http", "run",
                                   "--queue",        "default"};
  test::Process processor{lasting};
  boost::json::value seen;
  ASSERT_TRUE(eventually(
      [&] {
        seen = look();
        return seen.at("processed") == 2;
      },
      std::chrono::seconds{60}))
      << processor.err();
  EXPECT_EQ(seen.at("failed"), 2);
  EXPECT_EQ(seen.at("retry").at(0).at(0), request_class);
  EXPECT_EQ(seen.at("retry").at(0).at(1), "ArgumentError");
  EXPECT_THAT(std::string{seen.at("dead").at(0).at(1).as_string()}, HasSubstr("http"));
  EXPECT_EQ(seen.at("processes").at(0).at("tag"), "holdfast");
  EXPECT_EQ(seen.at("processes").at(0).at("stopping"), false);
  look("quiet");
  EXPECT_TRUE(eventually([&] { return look().at("processes").at(0).at("stopping").as_bool(); },
                         std::chrono::seconds{60}));
  look("stop");
  EXPECT_TRUE(processor.wait());
  EXPECT_TRUE(look().at("processes").as_array().empty());
}

}  // namespace
}  // namespace holdfast::sidekiq
