#include <algorithm>
#include <array>
#include <utility>

#include "documents/ascii.hpp"
#include "documents/redact.hpp"
#include "documents/secret_names.hpp"

namespace holdfast {

namespace {

/// How far ahead a decision may look, so that no text makes it look again and again.
constexpr std::size_t longest_look = 512;
constexpr std::size_t longest_armor = 200;

/// Keys that are known by their beginning, and how long they are at least.
constexpr std::array<std::pair<std::string_view, std::size_t>, 29> beginnings = {{
    {"AKIA", 20},     {"ASIA", 20},    {"AIza", 35},     {"ghp_", 20},     {"gho_", 20},
    {"ghu_", 20},     {"ghs_", 20},    {"ghr_", 20},     {"glpat-", 20},   {"github_pat_", 20},
    {"xoxb-", 15},    {"xoxp-", 15},   {"xoxa-", 15},    {"xoxr-", 15},    {"xoxs-", 15},
    {"xapp-", 15},    {"sk-", 20},     {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16},
    {"rk_test_", 16}, {"whsec_", 16},  {"hf_", 16},      {"hft_", 16},     {"npm_", 20},
    {"pypi-", 20},    {"dop_v1_", 20}, {"ya29.", 20},    {"SG.", 20},
}};
constexpr std::array schemes = {"bearer",           "basic",    "token", "apikey",
                                "aws4-hmac-sha256", "sharedkey"};
/// Headers whose whole value is the credential, up to the end of the line.
constexpr std::array whole_lines = {"cookie", "cookies", "set-cookie"};
/// What SQL and sentences give a value without a sign between: `PASSWORD 'x'`, `IDENTIFIED BY 'x'`.
constexpr std::array quoted_behind = {"password", "passwd", "pwd", "passphrase", "by"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_break(char c) { return c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
/// A letter of a name. What is not ASCII may be part of a word.
bool is_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}
/// A letter of a key.
bool is_token(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '~' || c == '+' ||
         c == '/' || c == '=';
}
/// `%3D`, in either case: a character of a URL within a URL.
bool is_encoded(std::string_view text, char first, char second) {
  return text.size() > 2 && text[0] == '%' && text[1] == first && (text[2] | ' ') == (second | ' ');
}
bool is_encoded(std::string_view text) {
  const auto is_hex = [](char c) { return is_digit(c) || ((c | ' ') >= 'a' && (c | ' ') <= 'f'); };
  return text.size() > 2 && text[0] == '%' && is_hex(text[1]) && is_hex(text[2]);
}
/// Places for values in texts about options. Other words in capitals may be passwords.
constexpr std::array placeholders = {"FILE", "FOLDER", "NAME", "NAME=FILE", "PATH"};
bool ends_value(char c) {
  return is_space(c) || is_break(c) || is_quote(c) || c == '&' || c == ';' || c == ',' ||
         c == ')' || c == '}' || c == ']' || c == '<' || c == '>' || c == '#' || c == '|';
}

/// One pass over a text. Whatever it decides, it goes on behind what it has looked at, or at most
/// `longest_look` before the end of that.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_{text} {}

  Redacted run() {
    while (at_ < text_.size()) {
      if (is_armor(at_) && private_key()) continue;
      if (text_.substr(at_).starts_with("://") && user_of_url()) continue;
      if (is_name(text_[at_]))
        name();
      else
        keep(at_ + (is_encoded(text_.substr(at_)) ? 3 : 1));
    }
    return std::move(found_);
  }

 private:
  bool is_armor(std::size_t at) const { return text_.substr(at, 11) == "-----BEGIN "; }
  void keep(std::size_t until) {
    found_.text += text_.substr(at_, until - at_);
    at_ = until;
  }
  void hide(std::size_t until) {
    if (until <= at_) return;
    found_.text += hidden_mark;
    found_.hidden = true;
    at_ = until;
  }

  /// All of it, also where its end is missing.
  bool private_key() {
    const auto line = text_.substr(at_, longest_armor);
    const auto ends = line.find("-----", 11);
    if (ends == line.npos || line.substr(0, ends).find("PRIVATE KEY") == line.npos) return false;
    const auto footer = text_.find("-----END ", at_ + ends);
    if (footer == text_.npos) return hide(text_.size()), true;
    const auto last = text_.find("-----", footer + 9);
    hide(last == text_.npos ? text_.size() : last + 5);
    return true;
  }

  /// `://user:password@host`: what is between the colon and the last @. A password may have a slash
  /// in it; then what follows the colon is not a port.
  bool user_of_url() {
    const auto begin = at_ + 3;
    auto end = begin;
    const auto most = std::min(text_.size(), begin + longest_look);
    std::size_t colon = text_.npos, last_at = text_.npos, slash = text_.npos;
    for (; end < most && !is_space(text_[end]) && !is_break(text_[end]) && !is_quote(text_[end]);
         ++end) {
      const char c = text_[end];
      if (c == ':' && text_.substr(end).starts_with("://")) break;
      if (c == '@') last_at = end;
      if (c == ':' && colon == text_.npos && last_at == text_.npos) colon = end;
      if ((c == '/' || c == '?' || c == '#') && slash == text_.npos) slash = end;
    }
    if (last_at == text_.npos) {
      // What is not a port is a password whose @ was cut off.
      const auto host_end = std::min(slash, end);
      const bool cut = end == text_.size() && slash == text_.npos && colon < end && begin < end &&
                       text_[begin] != '[' && colon + 1 < end && !is_port(colon + 1, host_end);
      keep(cut ? colon + 1 : begin);
      if (cut) hide(end);
      return true;
    }
    const bool in_path = slash < last_at;
    if (in_path && (colon == text_.npos || colon > slash || is_port(colon + 1, slash)))
      return keep(begin), true;
    if (colon == text_.npos && last_at - begin < 16) return keep(begin), true;
    keep(colon == text_.npos ? begin : colon + 1);
    hide(last_at);
    return true;
  }
  bool is_port(std::size_t from, std::size_t to) const {
    const auto port = text_.substr(from, to - from);
    return from < to && (port == "PORT" || std::ranges::all_of(port, is_digit));
  }

  /// A word, and what it says about what follows.
  void name() {
    const auto begin = at_;
    auto end = begin;
    while (end < text_.size() && is_name(text_[end]) && (end == begin || !is_armor(end))) ++end;
    const auto word = text_.substr(begin, end - begin);
    if (const auto key = key_length(begin); key > 0) return hide(begin + key);
    if (const auto value = value_behind(end); value > end) {
      if (is_parameter(begin) ? is_secret_parameter(word) : is_secret_name(word)) {
        keep(value);
        return hide_value(
            ascii_lowercase(word.substr(word.size() - std::min<std::size_t>(word.size(), 40))));
      }
      if (word == "name" && field_of_form(value)) return;
    } else if (const auto unmarked = value_without_sign(begin, end); unmarked.first > end) {
      keep(unmarked.first);
      return hide(unmarked.second);
    }
    keep(end);
    if (word.size() <= 20 && is_among(schemes, ascii_lowercase(word))) hide_if_key_follows();
  }

  /// Behind `?` or `&` of a URL, which may be encoded within another one.
  bool is_parameter(std::size_t begin) const {
    if (begin > 0 && (text_[begin - 1] == '?' || text_[begin - 1] == '&')) return true;
    const auto before = text_.substr(begin < 3 ? 0 : begin - 3, 3);
    return is_encoded(before, '3', 'F') || is_encoded(before, '2', '6');
  }

  /// Begin and end of a value that a credential's name is given without `=` or `:`; else nothing.
  std::pair<std::size_t, std::size_t> value_without_sign(std::size_t begin, std::size_t end) const {
    const auto word = text_.substr(begin, end - begin);
    const std::pair<std::size_t, std::size_t> nothing{end, end};
    if (end >= text_.size()) return nothing;
    if (begin > 0 && (text_[begin - 1] == '<' || text_[begin - 1] == ':')) {
      const auto tag = text_.substr(end, longest_look);
      const auto close = tag.find_first_of("<>");
      if (close == tag.npos || tag[close] == '<' || (close > 0 && tag[close - 1] == '/') ||
          !is_secret_name(word))
        return nothing;
      return {end + close + 1, std::min(text_.find('<', end + close), text_.size())};
    }
    if (!is_space(text_[end])) return nothing;
    auto at = end;
    while (at < text_.size() && at - end < 4 && is_space(text_[at])) ++at;
    if (at >= text_.size()) return nothing;
    if (is_quote(text_[at])) {
      const auto close = text_.find(text_[at], at + 1);
      const bool gives = word.starts_with("--")
                             ? is_secret_name(word)
                             : word.size() <= 10 &&
                                   is_among(quoted_behind, ascii_lowercase(word)) &&
                                   is_given(begin, word);
      return gives ? std::pair{at + 1, std::min(close, text_.size())} : nothing;
    }
    // `--secrets` is where they are.
    if (!word.starts_with("--") || word.ends_with("secrets") || text_[at] == '-' ||
        !is_secret_name(word))
      return nothing;
    auto last = at;
    if (text_.substr(at).starts_with(hidden_mark)) last += hidden_mark.size();
    while (last < text_.size() && !ends_value(text_[last])) ++last;
    return is_among(placeholders, text_.substr(at, last - at)) ? nothing : std::pair{at, last};
  }
  /// `BY` counts behind `IDENTIFIED` only.
  bool is_given(std::size_t begin, std::string_view word) const {
    if (word.size() > 2) return true;
    const auto before = text_.substr(begin < 11 ? 0 : begin - 11, std::min<std::size_t>(begin, 11));
    return ascii_lowercase(before) == "identified ";
  }

  /// `name="password"` of a form: its value is the text behind the next empty line, or a `value=`.
  bool field_of_form(std::size_t at) {
    if (at >= text_.size() || !is_quote(text_[at])) return false;
    const auto close =
        text_.substr(0, std::min(text_.size(), at + longest_look)).find(text_[at], at + 1);
    if (close == text_.npos || !is_secret_name(text_.substr(at + 1, close - at - 1))) return false;
    const auto near = text_.substr(close, longest_look);
    for (const std::string_view gap : {"\r\n\r\n", "\n\n", " value=\"", " value='"}) {
      const auto found = near.find(gap);
      if (found == near.npos || near.substr(1, found - 1).find('>') != near.npos) continue;
      keep(close + found + gap.size());
      const char last = gap.back();
      hide(std::min(text_.find_first_of(
                        last == '\n' ? std::string_view{"\r\n"} : gap.substr(gap.size() - 1), at_),
                    text_.size()));
      return true;
    }
    return false;
  }

  /// Where the value begins that the name before `end` is given: behind `=`, `:` or `=>`, and
  /// quotes around the name. `end` if there is none.
  std::size_t value_behind(std::size_t end) const {
    auto at = end;
    const auto most = std::min(text_.size(), end + 24);
    while (at < most && (text_[at] == '\\' || is_quote(text_[at]))) ++at;
    while (at < most && is_space(text_[at])) ++at;
    if (is_encoded(text_.substr(at), '3', 'D')) return at + 3;
    if (at >= most || (text_[at] != '=' && text_[at] != ':')) return end;
    const bool colon = text_[at++] == ':';
    if (colon && text_.substr(at).starts_with("//")) return end;
    if (at < most && !colon && text_[at] == '>') ++at;
    while (at < most && is_space(text_[at])) ++at;
    return at;
  }

  void hide_value(std::string_view name) {
    if (at_ >= text_.size()) return;
    const auto line_end = [&] {
      auto end = at_;
      // `Digest username="a", response="b"`: what is quoted behind a = is a part of it.
      bool inside = false;
      for (; end < text_.size() && !is_break(text_[end]); ++end) {
        if (!is_quote(text_[end])) continue;
        auto before = end;
        while (before > at_ && text_[before - 1] == '\\') --before;
        if (!inside && (before == at_ || text_[before - 1] != '=')) break;
        inside = !inside;
      }
      while (end > at_ && text_[end - 1] == '\\') --end;
      return end;
    };
    const auto quoted = quoted_value();
    if (quoted.first < quoted.second) {
      keep(quoted.first);
      return hide(quoted.second);
    }
    if (is_armor(at_) && private_key()) return;
    if (is_among(whole_lines, name) || name.ends_with("authorization")) return hide(line_end());
    if (text_[at_] == '{' || text_[at_] == '[') return hide(end_of_brackets());
    auto end = at_;
    while (end < text_.size() && !ends_value(text_[end]) &&
           !is_encoded(text_.substr(end), '2', '6'))
      ++end;
    // `token: Bearer abc` has a scheme before the credential.
    if (end < text_.size() && is_space(text_[end]) && end - at_ <= 20 &&
        is_among(schemes, ascii_lowercase(text_.substr(at_, end - at_)))) {
      ++end;
      while (end < text_.size() && !ends_value(text_[end])) ++end;
    }
    if (!is_plain_value(name, text_.substr(at_, end - at_))) hide(end);
  }

  /// What is between quotes, of which each may have backslashes before it: begin and end of it.
  std::pair<std::size_t, std::size_t> quoted_value() const {
    auto open = at_;
    while (open < text_.size() && open - at_ < 16 && text_[open] == '\\') ++open;
    if (open >= text_.size() || !is_quote(text_[open])) return {at_, at_};
    const auto closing = text_.substr(at_, open + 1 - at_);
    const auto backslashes = open - at_;
    auto end = open + 1;
    for (;; ++end) {
      end = text_.find(closing, end);
      if (end == text_.npos) return {open + 1, text_.size()};
      // A quote with more backslashes before it is a part of the value.
      std::size_t before = 0;
      while (before < 32 && end > open + 1 + before && text_[end - 1 - before] == '\\') ++before;
      if (backslashes > 0 ? before == 0 : before % 2 == 0) return {open + 1, end};
    }
  }

  std::size_t end_of_brackets() const {
    int depth = 0;
    bool in_string = false;
    for (auto at = at_; at < text_.size(); ++at) {
      const char c = text_[at];
      if (in_string && c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = !in_string;
      } else if (!in_string && (c == '{' || c == '[')) {
        ++depth;
      } else if (!in_string && (c == '}' || c == ']') && --depth == 0) {
        return at + 1;
      }
    }
    return text_.size();
  }

  /// Behind `Bearer` and its like: hides what looks like a credential, and not the next word of a
  /// sentence.
  void hide_if_key_follows() {
    auto begin = at_;
    while (begin < text_.size() && begin - at_ < 4 && is_space(text_[begin])) ++begin;
    if (begin == at_) return;
    auto end = begin;
    bool digit = false, inner_capital = false, number = true;
    for (; end < text_.size() && is_token(text_[end]); ++end) {
      number = number && is_digit(text_[end]);
      digit = digit || is_digit(text_[end]) || text_[end] == '=' || text_[end] == '_';
      inner_capital = inner_capital || (end > begin && text_[end] >= 'A' && text_[end] <= 'Z');
    }
    const auto length = end - begin;
    if (length < 6 || number || !(digit || inner_capital || length >= 24)) return;
    keep(begin);
    hide(end);
  }

  /// How long the key is that begins here; 0: none does.
  std::size_t key_length(std::size_t begin) const {
    auto end = begin;
    const auto most = text_.size();
    const auto word = text_.substr(begin, 16);
    if (word.starts_with("eyJ")) return web_token_length(begin);
    for (const auto& [prefix, least] : beginnings) {
      if (!word.starts_with(prefix)) continue;
      while (end < most && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '_' ||
                            text_[end] == '-' || text_[end] == '.'))
        ++end;
      const auto key = text_.substr(begin, end - begin);
      const bool all_small = std::ranges::none_of(
          key.substr(prefix.size()), [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); });
      return key.size() >= least && !all_small ? key.size() : 0;
    }
    return 0;
  }

  /// Three parts with dots between them.
  std::size_t web_token_length(std::size_t begin) const {
    auto end = begin;
    int dots = 0;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) ||
                                  text_[end] == '_' || text_[end] == '-' || text_[end] == '.'))
      if (text_[end++] == '.') ++dots;
    return dots >= 1 && end - begin >= 20 ? end - begin : 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Redacted found_{};
};

}  // namespace

Redacted redact_text(std::string_view text) { return Scan{text}.run(); }

}  // namespace holdfast
