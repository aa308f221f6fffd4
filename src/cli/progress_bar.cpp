#include "cli/progress_bar.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace holdfast::cli {

namespace {
constexpr std::int64_t bar_columns = 30;
// Quicker than this the eye does not follow, and drawing would cost more than the work.
constexpr std::chrono::milliseconds redraw_after{100};
}  // namespace

ProgressBar::ProgressBar(const Terminal& terminal, std::string what)
    : terminal_{terminal}, what_{std::move(what)} {}

ProgressBar::~ProgressBar() {
  if (terminal_.interactive) fmt::print(stderr, "\r\x1b[K");
}

void ProgressBar::show(std::int64_t done, std::int64_t total, const std::string& words) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_.interactive || now - drawn_ < redraw_after) return;
  drawn_ = now;
  fmt::print(stderr, "\r{} {} {}\x1b[K", what_, bar_text(done, total), words);
  std::fflush(stderr);
}

std::string bar_text(std::int64_t done, std::int64_t total) {
  if (total <= 0) return {};
  const double fraction =
      std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(fraction * bar_columns);
  return fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'),
                     std::string(bar_columns - filled, '.'), fraction * 100);
}

}  // namespace holdfast::cli
