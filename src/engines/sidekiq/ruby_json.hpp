#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace holdfast::sidekiq {

/// Ruby neither reads nor writes what is nested deeper.
inline constexpr int deepest_for_ruby = 100;

/// As Ruby reads JSON: bytes in texts need not be UTF-8. Whole numbers that have no end in Ruby and
/// 64 bits here become texts that only `ruby_text` knows. Throws `InvalidRequest`.
boost::json::value parse_as_ruby(std::string_view text);
/// What `parse_as_ruby` read, with the same numbers.
std::string ruby_text(const boost::json::value& value);

/// With U+FFFD in place of bytes that are not UTF-8. Ruby can read those, but it cannot write them:
/// a job that has them is lost when Sidekiq is to move it or to try it again.
std::string as_utf8(std::string text);

/// How many objects and lists are around the innermost value.
int depth_of(const boost::json::value& value);

}  // namespace holdfast::sidekiq
