#pragma once

#include <cstdint>

namespace holdfast::sim {

/// All chance in a history. Written out, so that a seed means the same on every machine (the
/// distributions of the standard library do not promise that).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15U + 1} {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    auto mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }
  /// 0 to `n` - 1.
  int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }
  bool percent(int chance) { return below(100) < chance; }
  double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::sim
