#include <clocale>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include <holdfast/error.hpp>

#include "cli/duration.hpp"
#include "cli/failure.hpp"
#include "cli/progress_bar.hpp"
#include "cli/table.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""h;
using testing::HasSubstr;
using testing::Not;

TEST(Durations, AreANumberAndItsUnit) {
  EXPECT_EQ(parse_duration("250ms", "--delay"), 250ms);
  EXPECT_EQ(parse_duration("10s", "--delay"), 10s);
  EXPECT_EQ(parse_duration("1.5s", "--delay"), 1'500ms);
  EXPECT_EQ(parse_duration("5m", "--delay"), 5min);
  EXPECT_EQ(parse_duration("2h", "--delay"), 2h);
  EXPECT_EQ(parse_duration("1d", "--delay"), 24h);
  EXPECT_EQ(parse_duration("1h30m", "--delay"), 90min);
  EXPECT_EQ(parse_duration("0s", "--delay"), 0ms);
}

TEST(Durations, ThatAreNoneNameTheOptionAndWhatIsAllowed) {
  for (const char* text : {"", "10", "s", "-5s", "-0s", "5 s", "5sec", "1e3s", "nan s", "inf",
                           "99999999999d", "5s!"}) {
    try {
      parse_duration(text, "--delay");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InvalidRequest& error) {
      EXPECT_THAT(error.what(), HasSubstr("--delay is '" + std::string{text} + "'"));
      EXPECT_THAT(error.what(), HasSubstr("250ms, 10s, 5m, 2h, 1d"));
    }
  }
}

TEST(Times, AreReadWithTheirZone) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z", "--at"), WallTime{1s});
  EXPECT_THROW(parse_time("tomorrow", "--at"), InvalidRequest);
  EXPECT_EQ(parse_since("10s", "--since", WallTime{60s}), WallTime{50s});
  EXPECT_EQ(parse_since("1970-01-01T00:00:01Z", "--since", WallTime{60s}), WallTime{1s});
  EXPECT_THROW(parse_since("lately", "--since", WallTime{60s}), InvalidRequest);
}

TEST(Json, StringsAreValidWhateverIsInThem) {
  std::string nasty = "a\"b\\c\n\t\x1b[31m\x7f";
  nasty += "\xc2\x9b";      // C1: control sequence introducer
  nasty += "\xe2\x80\xae";  // right-to-left override
  nasty += "\xff";          // not UTF-8
  nasty += "é😀";
  const std::string json = json_string(nasty);
  EXPECT_EQ(json, R"("a\"b\\c\n\t\u001b[31m\u007f\u009b\u202e\ufffdé😀")");
  EXPECT_THAT(std::string{boost::json::parse(json).as_string()}, HasSubstr("a\"b\\c\n\t\x1b"));
}

TEST(Json, PayloadsComeOutOnOneLineWithTheirNumbersUntouched) {
  EXPECT_EQ(json_line("{ \"a\" : [ 1,\n 2 ],\r\n\t\"b \\\" c\" : 12345678901234567890123 }"),
            R"({"a":[1,2],"b \" c":12345678901234567890123})");
  EXPECT_EQ(json_line("\"\xc2\x9b\""), R"("\u009b")");
  EXPECT_EQ(json_line(""), "");
}

TEST(Json, ObjectsKeepTheOrderOfTheirMembers) {
  const std::string text = JsonObject{}
                               .text("name", "x\"y")
                               .number("count", 3)
                               .flag("yes", true)
                               .fraction("half", 0.5)
                               .json("none", "")
                               .json("list", json_array({"a", "b"}))
                               .str();
  EXPECT_EQ(text,
            R"({"name":"x\"y","count":3,"yes":true,"half":0.5,"none":null,"list":["a","b"]})");
}

Table two_rows() {
  Table table{{{"NAME"}, {"N", true}, {"REMARK"}}};
  table.add({"one", "1", {"short", Colour::red}});
  table.add({"another", "1000", "a remark that is rather long\x1b[2J"});
  return table;
}

TEST(Tables, ArePlainAndWholeInAPipe) {
  EXPECT_EQ(two_rows().text(Terminal{}),
            "NAME        N  REMARK\n"
            "one         1  short\n"
            "another  1000  a remark that is rather long\\x1b[2J\n");
}

TEST(Tables, AreCutAndColouredOnATerminal) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::string text = two_rows().text({.interactive = true, .colour = true, .width = 30});
  EXPECT_THAT(text, HasSubstr("\x1b[31mshort\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("a remark that …\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b[2J")));
}

TEST(Tables, WrapSentencesRatherThanCutThem) {
  Table table{{{"AT"}, {"REASON", false, true}}};
  table.add({"10:15", "it was given back because its worker was asked to end"});
  table.add({"10:16", "short"});
  EXPECT_EQ(table.text({.interactive = true, .width = 42}),
            "AT     REASON\n"
            "10:15  it was given back because its\n"
            "       worker was asked to end\n"
            "10:16  short\n");
  EXPECT_EQ(table.text({.interactive = true, .width = 30}),
            "AT     REASON\n"
            "10:15\n"
            "    it was given back because\n"
            "    its worker was asked to\n"
            "    end\n"
            "10:16  short\n")
      << "a narrow column is no place for a sentence";
}

TEST(Tables, MeasureColumnsAndNotBytes) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EXPECT_EQ(display_width("héé"), 3);
  EXPECT_EQ(display_width("漢字"), 4);
  EXPECT_EQ(shortened("漢字漢字", 5), "漢字…");
  EXPECT_EQ(shortened("short", 5), "short");
}

TEST(ProgressBars, ShowHowFarItIs) {
  EXPECT_EQ(bar_text(1, 2), "[###############...............]  50 %");
  EXPECT_EQ(bar_text(9, 2), "[##############################] 100 %");
  EXPECT_EQ(bar_text(9, 0), "");
}

TEST(ExitCodes, SayWhatKindOfFailureItWas) {
  EXPECT_EQ(exit_for(ConfigError{""}), Exit::refused);
  EXPECT_EQ(exit_for(InvalidRequest{""}), Exit::refused);
  EXPECT_EQ(exit_for(StoreError{""}), Exit::system);
  EXPECT_EQ(exit_for(StoreFull{""}), Exit::system);
  EXPECT_EQ(exit_for(StoreReadOnly{""}), Exit::read_only);
  EXPECT_EQ(exit_for(StoreUnusable{""}), Exit::halted);
  EXPECT_EQ(exit_for(StorageFailed{""}), Exit::storage_failed);
  EXPECT_EQ(exit_for(Interrupted{""}), Exit::interrupted);
  EXPECT_EQ(exit_for(std::runtime_error{""}), Exit::system);
}

}  // namespace
}  // namespace holdfast::cli
