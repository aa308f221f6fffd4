#include "exec/output.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/json/parse.hpp>

namespace holdfast {

namespace {

constexpr std::size_t remembered_errors = 5;
constexpr std::size_t longest_remembered_error = 400;

/// How many bytes the UTF-8 character at the start of `text` has; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  std::uint8_t first = at(0);
  if (first < 0x80) return 1;
  std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  bool overlong = (first == 0xE0 && at(1) < 0xA0) || (first == 0xF0 && at(1) < 0x90);
  bool surrogate = first == 0xED && at(1) >= 0xA0;
  bool too_high = first == 0xF4 && at(1) >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    auto length = utf8_length(text);
    valid += length ? text.substr(0, length) : "\xEF\xBF\xBD";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

void LineCutter::feed(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    keep(bytes.substr(0, end));
    end_line();
    bytes.remove_prefix(end + 1);
  }
  keep(bytes);
}

void LineCutter::finish() {
  if (!line_.empty()) end_line();
}

void LineCutter::keep(std::string_view bytes) {
  auto kept = bytes.substr(0, longest_ - line_.size());
  line_ += kept;
  missing_ += bytes.size() - kept.size();
}

void LineCutter::end_line() {
  if (missing_ == 0 && line_.ends_with('\r')) line_.pop_back();
  on_line_(line_, missing_);
  line_.clear();
  missing_ = 0;
}

Output::Output(Log log, int log_lines, std::size_t result_bytes)
    : log_{std::move(log)},
      log_lines_left_{log_lines},
      // The result may be longer than what is logged of its line.
      output_{std::max(result_bytes, longest_log_line),
              [this](const std::string& line, std::size_t missing) {
                this->log(line, missing);
                if (!is_blank(line)) last_output_ = line;
              }},
      errors_{longest_log_line, [this](const std::string& line, std::size_t missing) {
                this->log(line, missing);
                if (is_blank(line)) return;
                last_errors_.push_back(as_utf8(line.substr(0, longest_remembered_error)));
                if (last_errors_.size() > remembered_errors) last_errors_.pop_front();
              }} {}

void Output::finish() {
  output_.finish();
  errors_.finish();
}

void Output::log(const std::string& line, std::size_t missing) {
  if (log_lines_left_ < 0) return;
  if (log_lines_left_-- == 0) {
    log_("(the program said more than is kept; the rest is not here)");
    return;
  }
  auto shown = std::string_view{line}.substr(0, longest_log_line);
  missing += line.size() - shown.size();
  log_(missing ? fmt::format("{} ({} bytes more)", as_utf8(shown), missing) : as_utf8(shown));
}

std::optional<boost::json::value> Output::result() const {
  boost::json::parse_options as_in_payloads;
  as_in_payloads.max_depth = 32;
  boost::system::error_code not_json;
  auto value = boost::json::parse(last_output_, not_json, {}, as_in_payloads);
  if (not_json) return std::nullopt;
  return value;
}

std::string Output::last_errors() const { return fmt::format("{}", fmt::join(last_errors_, "\n")); }

}  // namespace holdfast
