#include "engines/sidekiq/ruby_json.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <boost/json/parse.hpp>

#include <holdfast/error.hpp>

#include "recovery/plain_text.hpp"

namespace holdfast::sidekiq {

boost::json::value parse_as_ruby(std::string_view text) {
  boost::json::parse_options as_ruby;
  as_ruby.max_depth = deepest_for_ruby;
  as_ruby.allow_invalid_utf8 = true;
  boost::json::error_code fault;
  auto value = boost::json::parse({text.data(), text.size()}, fault, {}, as_ruby);
  if (fault == boost::json::error::too_deep)
    throw InvalidRequest{
        fmt::format("not valid JSON: nested deeper than {} levels", deepest_for_ruby)};
  if (fault) throw InvalidRequest{fmt::format("not valid JSON: {}", fault.message())};
  return value;
}

std::string as_utf8(std::string text) {
  if (is_utf8(text)) return text;
  std::string replaced;
  for (std::string_view rest = text; !rest.empty();) {
    auto size = utf8_character(rest);
    replaced += size > 0 ? rest.substr(0, size) : "\xef\xbf\xbd";
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return replaced;
}

int depth_of(const boost::json::value& value) {
  int inside = 0;
  if (const auto* list = value.if_array())
    for (const auto& each : *list) inside = std::max(inside, depth_of(each));
  else if (const auto* object = value.if_object())
    for (const auto& member : *object) inside = std::max(inside, depth_of(member.value()));
  else
    return 0;
  return inside + 1;
}

}  // namespace holdfast::sidekiq
