#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// Tells the C library which addresses names have. Debian has no private name server that a test
/// could start without being root, so its own function for that asks here first; names that nobody
/// said anything of are looked up as ever.
class Resolver {
 public:
  static Resolver& instance();

  /// Lookups of `name` find these addresses, one after the other, and from then on the last.
  void say(const std::string& name, std::vector<std::string> addresses);
  void forget();
  int lookups() const;  ///< of such names

  /// Empty: nothing was said of it.
  std::string look_up(std::string_view name);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>, std::less<>> addresses_;
  int lookups_ = 0;
};

/// Lookups of this name do not end before `end_lookups`, or for a minute.
inline constexpr std::string_view slow_name = "slow.holdfast.invalid";
void end_lookups();

}  // namespace holdfast::test
