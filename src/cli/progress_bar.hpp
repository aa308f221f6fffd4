#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/terminal.hpp"

namespace holdfast::cli {

/// One line on a terminal that is drawn over and over, and gone at the end. Draws nothing where
/// there is no terminal.
class ProgressBar {
 public:
  ProgressBar(const Terminal& terminal, std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `total` 0: nobody knows how much there is.
  void show(std::int64_t done, std::int64_t total, const std::string& words);

 private:
  Terminal terminal_;
  std::string what_;
  std::chrono::steady_clock::time_point drawn_{};
};

/// `[#####.....]  50 %`, or nothing where the total is not known.
std::string bar_text(std::int64_t done, std::int64_t total);

}  // namespace holdfast::cli
