// What `http run` can be told, and does.

#include <fmt/format.h>
#include <boost/json/parse.hpp>

#include "http/program_scenario.hpp"
#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"
#include "support/loopback.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;
using testing::HasSubstr;

using RunOptions = ProgramScenario;

TEST_F(RunOptions, TakeAnswersForErrorsWhereTheProcessorSaysSo) {
  HttpServer server{[](const ServedRequest&) { return answer(404); }};
  cli({"http", "get", server.url()});
  ASSERT_TRUE(cli(run_words({"--until-empty", "--raise"})).ending.ok());
  const auto stats = boost::json::parse(cli({"--json", "http", "stats"}).out);
  EXPECT_EQ(stats.at("errors").at("http").as_int64(), 1);
}

TEST_F(RunOptions, LeaveAHostAloneWhenAndForAsLongAsTheyAreTold) {
  const auto port = [] {
    return HttpServer{[](const ServedRequest&) { return answer(200); }}.port();
  }();
  for (int i = 0; i < 2; ++i)
    cli({"http", "get", fmt::format("http://127.0.0.1:{}/", port), "--attempts", "1"});
  test::Process processor{command(run_words({"--host-failures", "2", "--host-pause", "10m"}))};
  boost::json::value told;
  ASSERT_TRUE(test::eventually([&] {
    told = boost::json::parse(cli({"--json", "http", "stats"}).out).at("left_alone");
    return !told.as_array().empty();
  })) << processor.err();
  EXPECT_EQ(told.at(0).at("failures").as_int64(), 2);
  EXPECT_GT(std::string{told.at(0).at("until").as_string()},
            iso8601(system_clock().wall() + std::chrono::minutes{9}));
}

TEST_F(RunOptions, KeepConnectionsAsTheyAreTold) {
  HttpServer server{[](const ServedRequest&) { return answer(200); }};
  HttpServer other{[](const ServedRequest&) { return answer(200); }};
  for (int i = 0; i < 2; ++i)
    for (const auto& url : {server.url(), other.url()}) cli({"http", "get", url});
  const std::vector<std::string> few{"http",       "run", "--allow-private",    "--until-empty",
                                     "--capacity", "1",   "--idle-connections", "0"};
  ASSERT_TRUE(cli(few).ending.ok());
  EXPECT_EQ(server.served(), 2);
  // Which of two connections is older, libcurl can tell from millisecond to millisecond only.
  EXPECT_GT(server.connections() + other.connections(), 2) << "there was a place for one only";
  const auto before = server.connections();
  cli({"http", "get", server.url()});
  cli({"http", "get", server.url(), "--delay", "2500ms"});
  ASSERT_TRUE(cli(run_words({"--until-empty", "--idle-timeout", "1s"})).ending.ok());
  EXPECT_EQ(server.connections(), before + 2) << "the one before was idle for too long";
}

TEST_F(RunOptions, SpeakTheVersionThatTheyAreTold) {
  test::make_certificate(store_.folder());
  const std::string certificate = store_.folder() / "ca.crt", key = store_.folder() / "ca.key";
  // It would agree on HTTP/2, which it does not speak.
  test::Process server{{"/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                        certificate, "-key", key, "-alpn", "h2,http/1.1", "-www"}};
  ASSERT_TRUE(test::eventually([&] { return server.out().find("ACCEPT") != std::string::npos; }));
  const auto line = server.out().substr(server.out().find("ACCEPT"));
  const auto place = line.substr(line.find("127.0.0.1"));
  cli({"http", "get", fmt::format("https://{}/", place.substr(0, place.find('\n')))});
  const auto done = cli(run_words({"--until-empty", "--http1", "--ca-file", certificate}));
  EXPECT_THAT(done.out, HasSubstr("1 answered")) << done.err;
}

TEST_F(RunOptions, PutIntoBlobsWhatTheyAreToldToPutThere) {
  const auto blobs = store_.folder() / "blobs";
  std::vector<std::string> words{"http",
                                 "post",
                                 "http://127.0.0.1/",
                                 "--data",
                                 std::string(200, 'x'),
                                 "--blobs",
                                 "dir:" + blobs.string()};
  const auto payload = [&] {
    return inspector_.task(*TaskId::parse(cli(words).out.substr(0, 26)))->payload;
  };
  EXPECT_THAT(payload(), HasSubstr("xxx"));
  words.insert(words.end(), {"--blob-threshold", "100"});
  EXPECT_THAT(payload(), testing::StartsWith("{\"$blob\":"));
}

}  // namespace
}  // namespace holdfast::http
