#include <fstream>
#include <iterator>
#include <span>

#include <gmock/gmock.h>

#include <holdfast/worker.hpp>

#include "server/embedded.hpp"
#include "server/history.hpp"
#include "server/server_under_test.hpp"
#include "server/static_files.hpp"
#include "support/process.hpp"

namespace holdfast::server {
std::span<const EmbeddedFile> sample_files();
}

namespace holdfast::test {
namespace {

using testing::HasSubstr;

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(MetricsSamples, AreTakenWhileTheServerRuns) {
  ServerUnderTest server;
  server.enqueue("a");
  EXPECT_TRUE(eventually([&] {
    const auto points = server.get("/v1/metrics/history").json().at("points").as_array();
    return points.size() >= 2 && points.back().at("pending").as_int64() == 1;
  }));
}

TEST(Health, NamesKindsThatCannotBeginAndWhetherOthersRunThem) {
  Settings settings;
  settings.heartbeat.interval = std::chrono::seconds{1};
  ServerUnderTest server{{.settings = settings}};
  server.enqueue("video");
  Tasks sick{server.engine()}, well{server.engine()};
  sick.on_json("video", [](Attempt&) -> Outcome { throw CannotBegin{"no ffmpeg"}; });
  auto of_workers = [&] {
    const auto health = server.get("/v1/health").json();
    for (const auto& check : health.at("checks").as_array())
      if (check.at("about") == "workers")
        return std::pair{std::string{check.at("level").as_string()},
                         std::string{check.at("sentence").as_string()}};
    return std::pair{std::string{}, std::string{}};
  };
  Worker first{sick, {}};
  std::jthread running_first{[&] { first.run(); }};
  EXPECT_TRUE(eventually(
      [&] {
        const auto [level, sentence] = of_workers();
        return level == "bad" && sentence.find("kind video cannot begin in any") != sentence.npos;
      },
      std::chrono::seconds{60}))
      << of_workers().second;
  EXPECT_THAT(of_workers().second, HasSubstr("no ffmpeg"));
  EXPECT_EQ(server.get("/v1/health").json().at("level"), "bad");
  well.on_json("video", [](Attempt&) { return done; });
  Worker other{well, {}};
  std::jthread running_other{[&] { other.run(); }};
  EXPECT_TRUE(eventually([&] { return of_workers().first != "bad"; }, std::chrono::seconds{60}))
      << of_workers().second;
  first.drain();
  other.drain();
}

TEST(EmbeddedFiles, AreServedAsTheyWere) {
  const auto files = server::sample_files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "/assets/app.js");
  EXPECT_EQ(files[1].content_type, "text/html; charset=utf-8");
  const auto source = content_of(HOLDFAST_SOURCE_DIR "/tests/server/embedded/assets/app.js");
  server::Request request;
  EXPECT_EQ(serve_file(request, files[0]).content(), source);
  request.headers["accept-encoding"] = "gzip, br";
  const auto zipped = serve_file(request, files[0]);
  EXPECT_EQ(server::unzipped(std::string{zipped.content()}), source);
  request.headers["if-none-match"] = files[0].etag;
  EXPECT_EQ(serve_file(request, files[0]).status, 304);
}

TEST(Metrics, AreWhatPrometheusReads) {
  ServerUnderTest server;
  server.enqueue("a");
  const auto metrics = server.get("/metrics");
  EXPECT_THAT(metrics.headers.at("content-type"), HasSubstr("version=0.0.4"));
  EXPECT_THAT(metrics.body, HasSubstr("holdfast_store_tasks{"));
  const auto checked =
      test::run({"/usr/bin/env", "promtool", "check", "metrics"}, {}, metrics.body);
  EXPECT_TRUE(checked.ending.ok()) << checked.err << checked.out;
}

}  // namespace
}  // namespace holdfast::test
