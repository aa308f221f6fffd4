#include "tasks/json_text.hpp"

#include <fmt/format.h>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>

#include <holdfast/payload.hpp>

namespace holdfast {

namespace {

using boost::json::error_code;
using boost::json::string_view;

/// Takes everything a parser can say and keeps nothing.
struct Ignore {
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);
  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return true; }
  bool on_object_end(std::size_t, error_code&) { return true; }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t, error_code&) { return true; }
  bool on_key_part(string_view, std::size_t, error_code&) { return true; }
  bool on_key(string_view, std::size_t, error_code&) { return true; }
  bool on_string_part(string_view, std::size_t, error_code&) { return true; }
  bool on_string(string_view, std::size_t, error_code&) { return true; }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t, string_view, error_code&) { return true; }
  bool on_uint64(std::uint64_t, string_view, error_code&) { return true; }
  bool on_double(double, string_view, error_code&) { return true; }
  bool on_bool(bool, error_code&) { return true; }
  bool on_null(error_code&) { return true; }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }
};

/// The names of members on the first level.
struct Names : Ignore {
  bool on_object_begin(error_code&) { return ++depth > 0; }
  bool on_object_end(std::size_t, error_code&) { return --depth >= 0; }
  bool on_array_begin(error_code&) { return ++depth > 0; }
  bool on_array_end(std::size_t, error_code&) { return --depth >= 0; }
  bool on_key_part(string_view part, std::size_t, error_code&) { return take(part); }
  bool on_key(string_view part, std::size_t, error_code&) {
    take(part);
    if (depth == 1) names.push_back(std::exchange(begun, {}));
    return true;
  }
  bool take(string_view part) {
    if (depth == 1) begun.append(part.data(), part.size());
    return true;
  }

  int depth = 0;
  std::string begun{};
  std::vector<std::string> names{};
};

boost::json::parse_options strict() {
  boost::json::parse_options options;
  options.max_depth = deepest_json;
  return options;
}

}  // namespace

std::string json_fault(std::string_view text) {
  boost::json::basic_parser<Ignore> parser{strict()};
  error_code fault;
  auto read = parser.write_some(false, text.data(), text.size(), fault);
  if (!fault && read < text.size()) fault = boost::json::error::extra_data;
  if (!fault) return {};
  if (fault == boost::json::error::too_deep)
    return fmt::format("nested deeper than {} levels at byte {}", deepest_json, read + 1);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "empty";
  return fmt::format("{} at byte {}", fault.message(), read + 1);
}

std::vector<std::string> member_names(std::string_view text) {
  boost::json::basic_parser<Names> parser{strict()};
  error_code fault;
  parser.write_some(false, text.data(), text.size(), fault);
  return std::move(parser.handler().names);
}

boost::json::value parse_json(std::string_view text) {
  error_code fault;
  auto value = boost::json::parse(string_view{text.data(), text.size()}, fault, {}, strict());
  if (fault) throw InvalidRequest{fmt::format("not valid JSON: {}", json_fault(text))};
  return value;
}

}  // namespace holdfast
