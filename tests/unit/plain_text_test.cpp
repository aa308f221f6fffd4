#include "recovery/plain_text.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

struct Case {
  std::string_view text;
  std::string_view shown;
};

TEST(PlainText, ShowsWhatSteersATerminalInsteadOfSendingIt) {
  for (auto [text, shown] : {
           Case{"plain text, naïve café, 日本, 🚀", "plain text, naïve café, 日本, 🚀"},
           Case{"two\nlines\r\tand a tab", "two\\nlines\\r\\tand a tab"},
           Case{"\x1b[31mred", "\\x1b[31mred"}, Case{std::string_view{"a\0b", 3}, "a\\x00b"},
           Case{"\x7f", "\\x7f"},
           Case{"\xc2\x9b"
                "31m",
                "\\u009b31m"},  // the one-character escape
           Case{"\xe2\x80\xae"
                "evil",
                "\\u202eevil"},  // right to left
           Case{"\xff\xfe", "\\xff\\xfe"}, Case{"cut \xe2\x82", "cut \\xe2\\x82"},
           Case{"\xc0\xaf", "\\xc0\\xaf"},  // an overlong slash
       })
    EXPECT_EQ(plain(text), shown);
}

TEST(PlainText, KnowsUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // beyond the last character
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // half of a surrogate pair
  EXPECT_FALSE(is_utf8("\xe0\x80\xaf"));
  EXPECT_FALSE(is_utf8("\xf0\x80\x80\xaf"));
  EXPECT_FALSE(is_utf8("\x80"));
}

TEST(PlainText, KnowsUtf8WhereverItStandsInALongText) {
  for (std::size_t at = 0; at < 20; ++at) {
    std::string text(20, 'x');
    EXPECT_TRUE(is_utf8(text.substr(at)));
    text[at] = '\xff';
    EXPECT_FALSE(is_utf8(text)) << at;
    EXPECT_TRUE(is_utf8(text.replace(at, 1, "\u00e9"))) << at;
  }
}

}  // namespace
}  // namespace holdfast
