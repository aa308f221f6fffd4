#include <fstream>

#include <boost/json/serialize.hpp>

#include "operations/collector_under_test.hpp"
#include "scenario/cli_scenario.hpp"
#include "server/wire_call.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

const std::string trace = "0af7651916cd43dd8448eb211c80319c", parent = "b7ad6b7169203331";
const std::string traceparent = "00-" + trace + "-" + parent + "-01";

/// The program, with a collector that takes what it sends.
class TracesOfTheProgram : public CliScenario {
 protected:
  /// A worker until nothing is left, and what it says when it cannot.
  Finished work(const std::vector<std::string>& more = {}, const Environment& environment = {}) {
    std::vector<std::string> words{
        HOLDFAST_PROGRAM, "--store", store_.address(), "worker", "run",
        "--exec",         "cat",     "--kind",         "letter", "--until-empty"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, environment);
  }
  void expect_span(CollectorUnderTest& collector) {
    const auto spans = collector.spans();
    ASSERT_EQ(spans.size(), 1U);
    EXPECT_EQ(text(spans[0], "traceId"), trace);
    EXPECT_EQ(text(spans[0], "parentSpanId"), parent);
    EXPECT_EQ(text(spans[0], "name"), "letter");
  }
  std::string refusal(const std::vector<std::string>& more, const Environment& environment = {}) {
    const auto done = work(more, environment);
    EXPECT_FALSE(done.ending.ok());
    return done.err;
  }
  std::string config(const std::string& yaml) const {
    const auto path = (store_.folder() / "work.yaml").string();
    std::ofstream{path} << yaml;
    return path;
  }

  CollectorUnderTest collector_;
};

TEST_F(TracesOfTheProgram, GoOnWithTheTraceOfWhoeverAddedTheTask) {
  const auto id = add({"letter", "--traceparent", traceparent, "--tag", "mine"});
  const auto file = (store_.folder() / "numbers.prom").string();
  const auto done = work({"--otlp", collector_.url(), "--metrics-file", file});
  ASSERT_TRUE(done.ending.ok()) << done.err;
  expect_span(collector_);
  std::ifstream numbers{file};
  const std::string all{std::istreambuf_iterator<char>{numbers}, {}};
  EXPECT_THAT(all, HasSubstr("holdfast_trace_spans_total{"));
  EXPECT_THAT(all, HasSubstr(R"(result="sent"} 1)"));
  EXPECT_THAT(ok({"task", "list", "--tag", "trace-" + trace}), HasSubstr(id));
}

TEST_F(TracesOfTheProgram, GoWhereTheVariablesOfOpenTelemetrySay) {
  add({"letter", "--traceparent", traceparent});
  const auto done = work({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", collector_.url() + "/"},
                              {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
                              {"OTEL_SERVICE_NAME", "post office"},
                              {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%2Cb, other=two words,"}});
  ASSERT_TRUE(done.ending.ok()) << done.err;
  expect_span(collector_);
  EXPECT_EQ(collector_.header("api-key"), "a,b");
  EXPECT_EQ(collector_.header("other"), "two words");
  EXPECT_THAT(boost::json::serialize(collector_.documents().front()),
              HasSubstr(R"("key":"service.name","value":{"stringValue":"post office"})"));
}

TEST_F(TracesOfTheProgram, GoExactlyWhereTheVariableForTracesSays) {
  CollectorUnderTest elsewhere{"/otlp/spans"};
  add({"letter", "--traceparent", traceparent});
  const auto done =
      work({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", collector_.url()},
                {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", elsewhere.url() + "/otlp/spans"}});
  ASSERT_TRUE(done.ending.ok()) << done.err;
  expect_span(elsewhere);
  EXPECT_EQ(collector_.asked(), 0);
}

TEST_F(TracesOfTheProgram, GoWhereTheConfigurationSaysUnlessTheyAreDisabled) {
  const auto file = config("traces:\n  endpoint: " + collector_.url() + "\n");
  EXPECT_THAT(ok({"config", "check", file}), HasSubstr("traces.endpoint"));
  EXPECT_THAT(ok({"config", "check", file}), HasSubstr(collector_.url()));
  add({"letter", "--traceparent", traceparent});
  ASSERT_TRUE(work({"--config", file}, {{"OTEL_SDK_DISABLED", "true"}}).ending.ok());
  EXPECT_EQ(collector_.asked(), 0);
  add({"letter", "--traceparent", traceparent});
  ASSERT_TRUE(work({"--config", file}).ending.ok());
  expect_span(collector_);
}

TEST_F(TracesOfTheProgram, AreRefusedWhereTheyMakeNoSense) {
  EXPECT_THAT(refusal({"--otlp", "collector:4318"}), HasSubstr("--otlp: 'collector:4318'"));
  EXPECT_THAT(refusal({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "4318"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_ENDPOINT: '4318'"));
  EXPECT_THAT(refusal({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", collector_.url()},
                           {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'"));
  const auto headers = refusal({"--otlp", collector_.url()},
                               {{"OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret,hush"}});
  EXPECT_THAT(headers, HasSubstr("OTEL_EXPORTER_OTLP_HEADERS: entry 2"));
  EXPECT_THAT(headers, testing::Not(HasSubstr("hush")));
  EXPECT_THAT(refusal({"--config", config("\ntraces:\n  endpoint: nowhere\n")}),
              HasSubstr("work.yaml:3: 'nowhere'"));
  EXPECT_THAT(cli({"task", "add", "letter", "--traceparent", "00-1-2-01"}).err,
              HasSubstr("--traceparent: '00-1-2-01'"));
}

TEST_F(TracesOfTheProgram, HaveTheAttemptsOfRemoteWorkersFromTheServer) {
  Process server{{HOLDFAST_PROGRAM, "--json", "--store", store_.address(), "serve", "--no-auth",
                  "--listen", "127.0.0.1:0", "--otlp", collector_.url()}};
  ASSERT_TRUE(eventually([&] { return server.out().find('\n') != std::string::npos; },
                         std::chrono::seconds{60}))
      << server.err();
  const std::string url{boost::json::parse(server.out()).at("url").as_string()};
  const int port = std::stoi(url.substr(url.rfind(':') + 1));
  auto post = [&](const std::string& path, const std::string& body, const Headers& more = {}) {
    return call(port, "POST", path, body, more);
  };
  const auto refused = post("/v1/tasks", R"({"kind":"letter"})", {{"traceparent", "00-1-2-01"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("traceparent"));
  ASSERT_EQ(post("/v1/tasks", R"({"kind":"letter"})", {{"traceparent", traceparent}}).status, 201);
  const auto enlisted = post("/v1/remote/workers", R"({"kinds":["letter"]})");
  const auto worker = "/v1/remote/workers/" + std::string{enlisted.json().at("worker").as_string()};
  const Headers secret{
      {"Holdfast-Worker-Secret", std::string{enlisted.json().at("secret").as_string()}}};
  const auto claimed = post(worker + "/claim", "{}", secret).json().at("tasks").as_array();
  ASSERT_EQ(claimed.size(), 1U);
  const boost::json::object settlement{
      {"id", claimed[0].at("id")}, {"token", claimed[0].at("token")}, {"outcome", "done"}};
  const boost::json::object settlements{{"settlements", boost::json::array{settlement}}};
  ASSERT_EQ(post(worker + "/settle", boost::json::serialize(settlements), secret).status, 200);
  ASSERT_TRUE(eventually([&] { return collector_.asked() > 0; }, std::chrono::seconds{60}));
  expect_span(collector_);
  EXPECT_TRUE(eventually([&] {
    const auto numbers = call(port, "GET", "/metrics").body;
    return numbers.find("holdfast_trace_spans_total") != std::string::npos;
  }));
}

}  // namespace
}  // namespace holdfast::test
