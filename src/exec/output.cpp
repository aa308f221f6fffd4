#include "exec/output.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json/parse.hpp>
#include <boost/json/stream_parser.hpp>
#include "recovery/plain_text.hpp"

namespace holdfast {

namespace {

constexpr std::size_t remembered_errors = 5;
constexpr std::size_t longest_remembered_error = 400;

/// At most `limit` bytes of `text`, without half a character at the end.
std::string_view beginning(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return text.substr(0, limit);
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\f\v") == std::string_view::npos;
}

boost::json::parse_options as_in_payloads() {
  boost::json::parse_options options;
  options.max_depth = 32;
  return options;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    auto length = utf8_character(text);
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

Output::Output(Log log, std::size_t result_bytes)
    : log_{std::move(log)},
      // The result may be longer than what is logged of its line.
      output_{std::max(result_bytes, longest_log_line),
              [this](const std::string& line, std::size_t missing) {
                this->log(line, missing);
                if (is_blank(line)) return;
                last_output_ = line;
                last_output_missing_ = missing;
              }},
      errors_{longest_log_line, [this](const std::string& line, std::size_t missing) {
                this->log(line, missing);
                if (is_blank(line)) return;
                last_errors_.push_back(as_utf8(beginning(line, longest_remembered_error)));
                if (last_errors_.size() > remembered_errors) last_errors_.pop_front();
              }} {}

void Output::finish() {
  output_.finish();
  errors_.finish();
}

void Output::log(const std::string& line, std::size_t missing) {
  auto kept = beginning(line, longest_log_line);
  missing += line.size() - kept.size();
  auto text = as_utf8(kept);  // which may have made it longer
  auto shown = beginning(text, longest_log_line);
  log_(missing ? fmt::format("{} ({} bytes more)", shown, missing) : std::string{shown});
}

std::string Output::result() const {
  boost::system::error_code not_json;
  boost::json::parse(last_output_, not_json, {}, as_in_payloads());
  return not_json ? "" : last_output_;
}

std::optional<std::size_t> Output::too_long_result() const {
  if (last_output_missing_ == 0) return {};
  boost::json::stream_parser parser{{}, as_in_payloads()};
  boost::system::error_code not_json;
  parser.write(last_output_, not_json);
  if (not_json) return {};
  return last_output_.size() + last_output_missing_;
}

std::string Output::last_errors() const { return fmt::format("{}", fmt::join(last_errors_, "\n")); }

}  // namespace holdfast
