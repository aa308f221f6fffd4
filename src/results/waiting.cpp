#include "results/waiting.hpp"

#include <algorithm>

namespace holdfast::results {

namespace {

constexpr Millis shortest_slice{100};
constexpr Millis longest_slice{std::chrono::minutes{5}};

}  // namespace

Waiting::Waiting(Tally parts, Millis abandon_after)
    : tally{std::move(parts)},
      slice{std::clamp(abandon_after / 10, shortest_slice, longest_slice)},
      ends{Clock::now() + slice} {}

void Waiting::begin_anew() {
  tally.known.silent_ms = 0;
  undelivered = false;
  ends = Clock::now() + slice;
}

Millis Waiting::left() const {
  return std::clamp(std::chrono::ceil<Millis>(ends - Clock::now()), Millis{0}, slice);
}

void Waiting::count_silence() {
  tally.known.silent_ms += slice.count();
  undelivered = false;
  ends = Clock::now() + slice;
}

}  // namespace holdfast::results
