#include <holdfast/tasks.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tasks/json_text.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string complaint(const NewTask& task, const Settings& settings = {}) {
  try {
    validate(task, settings);
    return "";
  } catch (const InvalidRequest& refusal) {
    return refusal.what();
  }
}

NewTask fine() { return {"welcome_email", R"({"to": "ada@example.org"})", {}}; }

std::string nested(int levels) {
  auto count = static_cast<std::size_t>(levels);
  return std::string(count, '[') + std::string(count, ']');
}

TEST(Validate, TakesWhatMakesSense) {
  EXPECT_EQ(complaint(fine()), "");
  auto task = fine();
  task.kind = std::string(200, 'k');
  task.payload = nested(32);
  task.options = {.queue = "größer als sonst",
                  .priority = 5,
                  .delay = 24h * 365,
                  .max_attempts = 1,
                  .timeout = 1ms,
                  .unique_key = "order 17",
                  .limit_key = "tenant 7",
                  .tags = {"urgent", "2024-01"},
                  .after = {TaskId::make()},
                  .id = TaskId::make()};
  EXPECT_EQ(complaint(task), "");
}

TEST(Validate, SaysWhatIsWrongAndWhatIsAllowed) {
  struct Case {
    std::function<void(NewTask&)> spoil;
    std::string_view complaint;
  };
  auto self = TaskId::make();
  const Case cases[] = {
      {[](auto& t) { t.kind = ""; }, "kind is empty; it needs 1 to 200"},
      {[](auto& t) { t.kind = std::string(201, 'k'); }, "201 bytes; at most 200"},
      {[](auto& t) { t.kind = "a\nb"; }, "kind contains control characters"},
      {[](auto& t) { t.kind = "\xff"; }, "kind is not valid UTF-8"},
      {[](auto& t) { t.options.queue = ""; }, "queue name is empty"},
      {[](auto& t) { t.options.limit_key = std::string(201, 'k'); }, "limit key has 201 bytes"},
      {[](auto& t) { t.options.limit_key = "*"; }, "stands for every key"},
      {[](auto& t) { t.options.queue = "\x7f"; }, "queue name contains control characters"},
      {[](auto& t) { t.options.unique_key = std::string(501, 'k'); }, "unique key has 501 bytes"},
      {[](auto& t) { t.options.priority = 0; }, "priority is 0; 1 (first) to 5 (last)"},
      {[](auto& t) { t.options.priority = 9; }, "priority is 9"},
      {[](auto& t) { t.options.max_attempts = 0; }, "max attempts is 0; 1 to 1000"},
      {[](auto& t) { t.options.max_attempts = 1001; }, "max attempts is 1001"},
      {[](auto& t) { t.options.delay = -1ms; }, "delay is -1 ms; 0 to"},
      {[](auto& t) { t.options.delay = 24h * 365 * 11; }, "ten years"},
      {[](auto& t) { t.options.delay = 1s, t.options.at = WallTime{1h}; }, "only one of them"},
      {[](auto& t) { t.options.at = WallTime{-1h}; }, "years 1970 to 9999"},
      {[](auto& t) { t.options.timeout = 0ms; }, "timeout is 0 ms; 1 to"},
      {[](auto& t) { t.options.backoff.factor = 0.5; }, "factor of 0.5; 1 to 100"},
      {[](auto& t) { t.options.backoff.factor = std::nan(""); }, "factor of nan"},
      {[](auto& t) { t.options.backoff.jitter = 1.5; }, "jitter of the back-off is 1.5; 0 to 1"},
      {[](auto& t) { t.options.backoff.first = -1s; }, "back-off waits -1000"},
      {[](auto& t) { t.options.tags = {"Urgent"}; }, "out of a-z, 0-9 and '-'"},
      {[](auto& t) { t.options.tags = {""}; }, "1 to 50 characters"},
      {[](auto& t) { t.options.tags.assign(21, "x"); }, "21 tags; at most 20"},
      {[](auto& t) { t.options.after.assign(1001, TaskId::make()); }, "at most 1000"},
      {[](auto& t) { t.options.id = TaskId{}; }, "all zeros"},
      {[&](auto& t) { t.options.id = self, t.options.after = {self}; }, "waits for itself"},
      {[](auto& t) { t.payload = ""; }, "not valid JSON: empty"},
      {[](auto& t) { t.payload = "{\"a\": }"; }, "not valid JSON: syntax error at byte 7"},
      {[](auto& t) { t.payload = "{} {}"; }, "extra data at byte 4"},
      {[](auto& t) { t.payload = "{\"a\": 1"; }, "incomplete JSON at byte 8"},
      {[](auto& t) { t.payload = nested(33); }, "deeper than 32 levels"},
      {[](auto& t) { t.payload = '"' + std::string(999'999, 'x') + '"'; },
       "1000001 bytes; at most 1000000"},
  };
  for (const auto& [spoil, expected] : cases) {
    auto task = fine();
    spoil(task);
    EXPECT_THAT(complaint(task), HasSubstr(expected));
  }
}

TEST(Validate, TheLimitOfThePayloadIsASetting) {
  Settings settings;
  settings.limits.payload_bytes = 10;
  EXPECT_EQ(complaint({"k", "\"12345678\"", {}}, settings), "");
  EXPECT_THAT(complaint({"k", "\"123456789\"", {}}, settings), HasSubstr("11 bytes; at most 10"));
}

TEST(JsonText, AgreesWithTheParserAboutWhatIsJson) {
  const std::string texts[] = {"",
                               "null",
                               " 1 ",
                               "1e400",
                               "01",
                               "[1,]",
                               "nul",
                               "{\"a\"",
                               "\"\xff\"",
                               "\"\\ud800\"",
                               "\"a\nb\"",
                               "-",
                               "[]]",
                               "true",
                               "{\"a\":1}",
                               "'a'",
                               "// x\n1",
                               "NaN",
                               "1.5e3",
                               "\"\\u00e9\"",
                               nested(32),
                               nested(33),
                               "[1 2]",
                               "\xef\xbb\xbf"
                               "1"};
  for (const auto& text : texts) {
    bool parsed = true;
    try {
      parse_json(text);
    } catch (const InvalidRequest&) {
      parsed = false;
    }
    EXPECT_EQ(json_fault(text).empty(), parsed) << text << ": " << json_fault(text);
  }
}

TEST(JsonText, APayloadThatDoesNotFitTheTypeIsSaidToBeSo) {
  EXPECT_EQ(from_payload<int>("17"), 17);
  EXPECT_THROW(from_payload<int>("\"seventeen\""), InvalidRequest);
  EXPECT_THROW(from_payload<int>("17 18"), InvalidRequest);
}

struct Ping {};
BOOST_DESCRIBE_STRUCT(Ping, (), ())

TEST(JsonText, AStructWithoutMembersIsAnEmptyObject) {
  EXPECT_EQ(to_payload(Ping{}), "{}");
  EXPECT_NO_THROW(from_payload<Ping>("{}"));
  EXPECT_NO_THROW(from_payload<Ping>(R"({"more": "than needed"})"));
  EXPECT_THROW(from_payload<Ping>("[]"), UnfitPayload);
}

}  // namespace
}  // namespace holdfast
