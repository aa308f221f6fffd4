#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/settings.hpp>

namespace holdfast {

enum class KeyKind { whole, seconds, flag, choice };

/// One thing that can be set: its name in the file, what is allowed, and where it is kept. Reading
/// a file, checking settings made in code, and showing them all go through this table, so they
/// cannot disagree. Values are numbers: seconds, 0 or 1 for a flag, the index of a choice.
struct Key {
  std::string_view section;  ///< `queue.heartbeat`
  std::string_view name;     ///< `intervalSeconds`
  KeyKind kind = KeyKind::whole;
  double least = 0;
  double most = 0;
  std::function<double(const Settings&)> get{};
  std::function<void(Settings&, double)> set{};
  std::vector<std::string_view> choices{};

  std::string path() const;
  /// In words: `a whole number from 1 to 5`.
  std::string allowed() const;
  bool fits(double value) const;
  /// The value as it is written in a file.
  std::string text(const Settings& settings) const;
};

std::span<const Key> setting_keys();

/// What no single key can decide. Throws `ConfigError`.
void check_together(const Settings& settings);

}  // namespace holdfast
