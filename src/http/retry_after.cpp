#include "http/retry_after.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

namespace holdfast::http {

namespace {

constexpr Millis longest = std::chrono::hours{24};

std::optional<WallTime> parse_date(const std::string& text) {
  // The one that is to be written, and the two that are to be understood.
  for (const char* format :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm fields{};
    const char* end = ::strptime(text.c_str(), format, &fields);
    if (!end || *end != '\0') continue;
    return WallTime{std::chrono::seconds{::timegm(&fields)}};
  }
  return {};
}

}  // namespace

std::optional<Millis> parse_retry_after(std::string_view text, WallTime now) {
  auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find_last_not_of(' ') - begin + 1);
  bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {
    std::int64_t seconds = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{}) return longest;  // more than fits
    if (seconds == 0) return {};
    return std::min<Millis>(std::chrono::seconds{std::min<std::int64_t>(seconds, 1'000'000)},
                            longest);
  }
  auto date = parse_date(std::string{text});
  if (!date || *date <= now) return {};
  return std::min<Millis>(*date - now, longest);
}

}  // namespace holdfast::http
