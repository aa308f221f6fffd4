#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include <holdfast/holdfast.hpp>
#include <holdfast/traces.hpp>

#include "operations/collector_under_test.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceTags, AreTheIdsOfATraceparent) {
  EXPECT_THAT(trace_tags(traceparent),
              ElementsAre("trace-0af7651916cd43dd8448eb211c80319c", "span-b7ad6b7169203331"));
  EXPECT_THAT(trace_tags("01" + traceparent.substr(2) + "-more"), testing::SizeIs(2));
  for (const std::string& wrong :
       {std::string{}, std::string{"00"}, traceparent.substr(1), traceparent + "-more",
        "ff" + traceparent.substr(2),
        std::string{"00-00000000000000000000000000000000-b7ad6b7169203331-01"},
        std::string{"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"},
        std::string{"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"},
        std::string{"00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}})
    EXPECT_THAT(trace_tags(wrong), IsEmpty()) << wrong;
}

class Traces : public testing::Test {
 protected:
  Traces() {
    tasks_.on_json("letter", [this](Attempt& attempt) -> Outcome {
      if (fails_ && attempt.number() == 1) return retry_in(Millis{1}, "no \"route\"\n");
      return done;
    });
  }

  /// Works until nothing is left, with traces on.
  void work(std::size_t most_waiting = 1'000) {
    const TraceExport traces{
        engine_, {.endpoint = collector_.url(), .most_waiting = most_waiting, .metrics = metrics_}};
    Worker{tasks_, {.concurrency = 2, .until_empty = true}}.run();
  }
  std::string counted(const std::string& result) const {
    const auto text = metrics_->text();
    const auto line = "holdfast_trace_spans_total{result=\"" + result + "\"} ";
    const auto at = text.find(line) + line.size();
    return text.substr(at, text.find('\n', at) - at);
  }

  TempStore store_;
  Engine engine_ = open(store_.address());
  Tasks tasks_{engine_};
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  CollectorUnderTest collector_;
  bool fails_ = false;
};

TEST_F(Traces, HaveASpanOfAnAttemptInTheTraceOfWhoeverEnqueuedIt) {
  const auto id = tasks_.enqueue("letter", 1, {.queue = "mail", .tags = trace_tags(traceparent)});
  work();
  const auto spans = collector_.spans();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(text(spans[0], "traceId"), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(text(spans[0], "parentSpanId"), "b7ad6b7169203331");
  EXPECT_EQ(text(spans[0], "spanId").size(), 16U);
  EXPECT_EQ(text(spans[0], "name"), "letter");
  EXPECT_EQ(spans[0].at("status").at("code"), 1);
  EXPECT_GE(std::stoll(text(spans[0], "endTimeUnixNano")),
            std::stoll(text(spans[0], "startTimeUnixNano")));
  EXPECT_GT(std::stoll(text(spans[0], "startTimeUnixNano")), 1'700'000'000'000'000'000);
  const auto all = boost::json::serialize(collector_.documents().front());
  EXPECT_THAT(all, HasSubstr(id.text()));
  EXPECT_THAT(all, HasSubstr(R"("stringValue":"mail")"));
  EXPECT_THAT(all, HasSubstr(R"("key":"service.name","value":{"stringValue":"holdfast"})"));
  EXPECT_EQ(counted("sent"), "1");
}

TEST_F(Traces, HaveAllAttemptsOfATaskInOneOfItsOwn) {
  fails_ = true;
  tasks_.enqueue("letter", 1);
  work();
  const auto spans = collector_.spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(text(spans[0], "traceId"), text(spans[1], "traceId"));
  EXPECT_NE(text(spans[0], "spanId"), text(spans[1], "spanId"));
  EXPECT_FALSE(spans[0].contains("parentSpanId"));
  EXPECT_EQ(spans[0].at("status").at("code"), 2);
  EXPECT_THAT(std::string{spans[0].at("status").at("message").as_string()}, HasSubstr("route"));
  EXPECT_EQ(spans[1].at("status").at("code"), 1);
}

TEST_F(Traces, WaitForACollectorThatIsBusy) {
  collector_.answer_with(503);
  tasks_.enqueue("letter", 1);
  const TraceExport traces{engine_, {.endpoint = collector_.url(), .metrics = metrics_}};
  Worker{tasks_, {.concurrency = 2, .until_empty = true}}.run();
  ASSERT_TRUE(eventually([&] { return collector_.asked() > 0; }, std::chrono::seconds{60}));
  EXPECT_EQ(counted("sent"), "0");
  collector_.answer_with(200);
  EXPECT_TRUE(eventually([&] { return counted("sent") == "1"; }, std::chrono::seconds{60}));
  EXPECT_EQ(collector_.spans().size(), 1U);
}

TEST_F(Traces, DropWhatTheCollectorDoesNotWant) {
  collector_.answer_with(400);
  tasks_.enqueue("letter", 1);
  work();
  EXPECT_EQ(collector_.asked(), 1);
  EXPECT_EQ(counted("dropped"), "1");
}

TEST_F(Traces, KeepSoManySpansAndNoMoreAndHoldNoWorkUp) {
  collector_.answer_with(503);
  for (int i = 0; i < 50; ++i) tasks_.enqueue("letter", i);
  work(10);
  EXPECT_EQ(counted("dropped"), "50");
  EXPECT_EQ(counted("sent"), "0");
  EXPECT_EQ(Inspector{engine_}.count({.states = {TaskState::completed}}), 50);
}

TEST_F(Traces, AreRefusedWithoutAnAddressThatMakesSense) {
  for (const char* wrong : {"", "collector:4318", "ftp://collector", "http://", "http://c/?a=b",
                            "http://ada:secret@collector:4318"})
    EXPECT_THROW((TraceExport{engine_, {.endpoint = wrong}}), ConfigError) << wrong;
}

TEST_F(Traces, AreRefusedWithHeadersThatWouldBeOthers) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"", "a"}, {"two words", "a"}, {"key:", "a"}, {"key", "a\r\nother: b"}};
  for (const auto& wrong : all)
    EXPECT_THROW((TraceExport{engine_, {.endpoint = collector_.url(), .headers = {wrong}}}),
                 ConfigError)
        << wrong.first;
}

}  // namespace
}  // namespace holdfast::test
