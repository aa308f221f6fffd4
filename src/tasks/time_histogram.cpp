#include "tasks/time_histogram.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

namespace holdfast {

namespace {

/// The least number of microseconds in a bucket.
double lower_bound(std::size_t bucket) {
  if (bucket < 4) return static_cast<double>(bucket);
  const auto doubling = bucket / 4 + 1, quarter = bucket % 4;
  return static_cast<double>((4 + quarter) << (doubling - 2));
}

}  // namespace

std::size_t TimeHistogram::bucket(Micros time) {
  const auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  if (micros < 4) return static_cast<std::size_t>(micros);
  // The number of the highest bit says which doubling it is, the two bits below it which quarter.
  const auto doubling = static_cast<std::size_t>(std::bit_width(micros)) - 1;
  const auto quarter = static_cast<std::size_t>(micros >> (doubling - 2)) & 3;
  return std::min(4 * (doubling - 1) + quarter, bucket_count - 1);
}

double TimeHistogram::middle_ms(std::size_t bucket) {
  return (lower_bound(bucket) + lower_bound(bucket + 1)) / 2 / 1'000;
}

void TimeHistogram::add(const TimeHistogram& other) {
  for (std::size_t i = 0; i < bucket_count; ++i) counts_[i] += other.counts_[i];
}

TimeHistogram TimeHistogram::since(const TimeHistogram& earlier) const {
  TimeHistogram more;
  for (std::size_t i = 0; i < bucket_count; ++i)
    more.counts_[i] = std::max<std::int64_t>(counts_[i] - earlier.counts_[i], 0);
  return more;
}

std::int64_t TimeHistogram::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

std::optional<double> TimeHistogram::percentile_ms(double part) const {
  const auto all = total();
  if (all == 0) return {};
  const auto wanted = part * static_cast<double>(all);
  std::int64_t passed = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    passed += counts_[i];
    if (counts_[i] > 0 && static_cast<double>(passed) >= wanted) return middle_ms(i);
  }
  return middle_ms(bucket_count - 1);
}

std::string TimeHistogram::text(std::size_t most) const {
  std::string text;
  for (std::size_t width = 1;; width *= 2) {
    text.clear();
    std::size_t written = 0;
    for (std::size_t first = 0; first < bucket_count; first += width) {
      const auto end = std::min(first + width, bucket_count);
      const auto count =
          std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(first),
                          counts_.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{0});
      if (count == 0) continue;
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", first + (end - first) / 2, count);
      ++written;
    }
    if (written <= most || width >= bucket_count) return text;
  }
}

TimeHistogram TimeHistogram::parse(std::string_view text) {
  TimeHistogram parsed;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::size_t bucket = 0;
    std::int64_t count = 0;
    const auto first = std::from_chars(at, end, bucket);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') break;
    const auto second = std::from_chars(first.ptr + 1, end, count);
    if (second.ec != std::errc{}) break;
    if (bucket < bucket_count && count > 0) parsed.counts_[bucket] += count;
    at = second.ptr;
    if (at < end) ++at;
  }
  return parsed;
}

}  // namespace holdfast
