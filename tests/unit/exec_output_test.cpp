#include "exec/output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <vector>

#include "recovery/plain_text.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

struct Listener {
  std::vector<std::string> lines;
  Output output;
  explicit Listener(std::size_t result_bytes = 10'000)
      : output{[this](std::string_view line) { lines.emplace_back(line); }, result_bytes} {}
};

TEST(ExecOutput, JoinsPiecesAndCutsLines) {
  Listener listener;
  for (auto piece : {"one\ntw", "o", "\r\n\nthr", "ee"}) listener.output.on_output(piece);
  listener.output.finish();
  EXPECT_THAT(listener.lines, ElementsAre("one", "two", "", "three"));
}

TEST(ExecOutput, KeepsOnlyTheStartOfALongLine) {
  Listener listener;
  listener.output.on_errors(std::string(5'000, 'x') + "\nshort\n");
  EXPECT_THAT(listener.lines, ElementsAre(std::string(4'000, 'x') + " (1000 bytes more)", "short"));
}

TEST(ExecOutput, TheResultIsTheLastLineThatIsNotBlank) {
  Listener listener;
  listener.output.on_output("{\"not\": \"this\"}\n{\"rows\": [1, 2]}\n  \n\n");
  listener.output.finish();
  EXPECT_EQ(listener.output.result(), R"({"rows": [1, 2]})");
}

TEST(ExecOutput, TextIsNoResult) {
  Listener listener;
  EXPECT_EQ(listener.output.result(), "");
  listener.output.on_output("{\"a\": 1}\nall done\n");
  EXPECT_EQ(listener.output.result(), "");
}

TEST(ExecOutput, TheResultMayBeLongerThanALogLineButNotThanItsLimit) {
  Listener listener;
  auto fits = "\"" + std::string(9'998, 'r') + "\"";
  listener.output.on_output(fits + "\n");
  EXPECT_EQ(listener.output.result(), '"' + std::string(9'998, 'r') + '"');
  EXPECT_EQ(listener.output.too_long_result(), std::nullopt);
  listener.output.on_output("\"" + std::string(9'999, 'r') + "\"\n");
  EXPECT_EQ(listener.output.result(), "");
  EXPECT_EQ(listener.output.too_long_result(), 10'001);
  listener.output.on_output(std::string(20'000, 'r') + "\n");
  EXPECT_EQ(listener.output.too_long_result(), std::nullopt) << "a long line of text is no result";
}

TEST(ExecOutput, JsonOfAbsurdDepthIsNoResult) {
  Listener listener;
  listener.output.on_output(std::string(4'000, '[') + std::string(4'000, ']') + "\n");
  EXPECT_EQ(listener.output.result(), "");
}

TEST(ExecOutput, RemembersTheLastErrors) {
  Listener listener;
  for (int i = 1; i <= 9; ++i) listener.output.on_errors("error " + std::to_string(i) + "\n\n");
  EXPECT_EQ(listener.output.last_errors(), "error 5\nerror 6\nerror 7\nerror 8\nerror 9");
}

TEST(ExecOutput, ReplacesWhatIsNotUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(as_utf8("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x99\x82"),
            "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x99\x82");
  EXPECT_EQ(as_utf8("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(as_utf8("cut \xE2\x82"), "cut " + bad + bad);
}

TEST(ExecOutput, NeverCutsACharacterInHalf) {
  Listener listener;
  listener.output.on_output("x");
  for (int i = 0; i < 2'000; ++i) listener.output.on_output("\xC3\xBC");
  listener.output.on_output("\n" + std::string(2'000, '\xFF') + "\n");
  ASSERT_THAT(listener.lines, SizeIs(2));
  EXPECT_TRUE(is_utf8(listener.lines[0]));
  EXPECT_THAT(listener.lines[0], testing::EndsWith("\xC3\xBC (2 bytes more)"));
  EXPECT_TRUE(is_utf8(listener.lines[1]));
  EXPECT_LE(listener.lines[1].size(), 4'000U);
}

}  // namespace
}  // namespace holdfast
