#pragma once

#include <map>
#include <optional>
#include <string>

#include <holdfast/http/processor.hpp>

#include "http/url.hpp"

namespace holdfast::http {

/// Who may be connected to right now: so many at once, not while a host is down, and one at a time
/// until its name is resolved, because libcurl starts a thread for every look-up. Time is given, so
/// that tests need not wait.
class Hosts {
 public:
  Hosts(int per_host, BreakerOptions breaker, Millis dns_cache)
      : per_host_{per_host}, breaker_{breaker}, dns_cache_{dns_cache} {}

  enum class Entry { go, wait, closed };
  /// `go` counts it in, until it leaves.
  Entry enter(const Origin& origin, Millis now);
  int failures(const Origin& origin) const;  ///< in a row
  /// For how long a closed one stays closed.
  Millis closed_for(const Origin& origin, Millis now) const;
  /// How much is left of a patience that began when its circuit breaker opened, negative where it
  /// is over; nothing: the breaker is not open. While one is inside that shows how the host is, all
  /// wait for a moment.
  std::optional<Millis> patience_left(const Origin& origin, Millis patience, Millis now) const;
  /// Why the last one failed.
  std::string last_error(const Origin& origin) const;
  /// Its name is being looked up, and that has not taken long yet.
  bool is_resolving(const Origin& origin, Millis now) const;
  /// How long the next one stays away for whom there is no place. Each comes back a little after
  /// the one before, twice as often as places become free by the look of it: so there is always one
  /// for a place, and not many more of them come than needed for that.
  Millis next_turn(const Origin& origin, Millis now);
  /// Its name is known; who waits for that may enter.
  void resolved(const Origin& origin, Millis now);
  /// The same for one that needed no name, because it goes on a connection that was there. The next
  /// may need one, so this does not hold for long.
  void connected(const Origin& origin, Millis now);
  void leave(const Origin& origin, bool failed, Millis entered, Millis now,
             const std::string& why = {});
  /// The same for one that was broken off, and so learned nothing of the host.
  void turn_back(const Origin& origin);

 private:
  using Fine = std::chrono::duration<double, std::milli>;
  struct Host {
    int inside = 0;
    bool resolving = false;
    Millis resolving_since{0};
    Millis resolved_until{0};
    int failures = 0;  ///< in a row
    Millis closed_until{0};
    Millis down_since{0};      ///< the circuit breaker opened, and has not closed since
    std::string last_error{};  ///< empty: there was none, or it is not known
    Fine takes{0};             ///< inside, on average
    Millis since{0};           ///< when one left, or the first came
    Fine turn{0};              ///< when the last one comes that was sent away
  };

  int per_host_;
  BreakerOptions breaker_;
  Millis dns_cache_;
  std::map<Origin, Host> hosts_;
};

}  // namespace holdfast::http
