#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace holdfast::bench {

/// The value below which the share `part` of the samples lies (nearest rank).
inline double quantile(std::vector<double> samples, double part) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  auto rank = std::ceil(part * static_cast<double>(samples.size()));
  auto at = static_cast<std::size_t>(std::max(1.0, rank)) - 1;
  return samples[std::min(at, samples.size() - 1)];
}

inline double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

/// What `work` takes, in seconds.
template <class F>
double seconds(F&& work) {
  auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace holdfast::bench
