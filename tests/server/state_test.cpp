#include <fstream>
#include <iterator>
#include <span>

#include <gmock/gmock.h>

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

std::string content(const std::string& path) {
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

TEST(EmbeddedFiles, AreServedAsTheyWere) {
  const auto files = server::sample_files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "/assets/app.js");
  EXPECT_EQ(files[1].content_type, "text/html; charset=utf-8");
  const auto source = content(HOLDFAST_SOURCE_DIR "/tests/server/embedded/assets/app.js");
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
