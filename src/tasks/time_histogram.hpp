#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

/// How many things took how long. Buckets are fixed, four to each doubling from a microsecond to
/// twelve days, so histograms of any workers and times can be added up, and what is read from one
/// is wrong by an eighth at most.
class TimeHistogram {
 public:
  using Micros = std::chrono::microseconds;
  static constexpr std::size_t bucket_count = 160;

  static std::size_t bucket(Micros time);
  void add(Micros time, std::int64_t count = 1) { counts_[bucket(time)] += count; }
  void add(const TimeHistogram& other);
  /// What came since `earlier`, which is an earlier state of this.
  TimeHistogram since(const TimeHistogram& earlier) const;
  bool empty() const { return total() == 0; }
  std::int64_t total() const;
  /// So much of it took less than this, in milliseconds; nothing if there is none.
  std::optional<double> percentile_ms(double part) const;

  /// `17:3 18:40`: buckets that are not empty and their counts. With at most `most` of them: where
  /// there are more, neighbours go together.
  std::string text(std::size_t most = bucket_count) const;
  /// What `text` wrote; what cannot be read counts nothing.
  static TimeHistogram parse(std::string_view text);

  bool operator==(const TimeHistogram&) const = default;

 private:
  static double middle_ms(std::size_t bucket);

  std::array<std::int64_t, bucket_count> counts_{};
};

}  // namespace holdfast
