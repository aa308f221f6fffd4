#include "recovery/patient.hpp"

#include <utility>

#include <fmt/format.h>

namespace holdfast {

std::optional<int> Patient::say(const std::string& text) {
  constexpr std::chrono::seconds a_moment{10};
  constexpr std::size_t enough = 100;
  auto now = std::chrono::steady_clock::now();
  std::lock_guard lock{mutex_};
  if (said_.size() > enough) said_.clear();
  auto [seen, fresh] = said_.try_emplace(text, Said{now});
  auto& [at, kept_back] = seen->second;
  if (!fresh && now - at < a_moment) {
    ++kept_back;
    return {};
  }
  return std::exchange(seen->second, Said{now}).kept_back;
}

std::string kept_back_text(int count) {
  return count > 0 ? fmt::format(" (and {} times since it was last said)", count) : std::string{};
}

}  // namespace holdfast
