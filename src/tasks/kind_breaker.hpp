#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/task.hpp>

namespace holdfast {

/// A circuit breaker for each kind of task that a worker runs. A handler that cannot begin on this
/// machine (`CannotBegin`) opens it: the worker claims no tasks of the kind, so that other workers
/// get them, and after a pause tries a single one. The first that begins closes it.
///
/// No clock, no threads, no I/O: the worker drives it under its own lock.
class KindBreaker {
 public:
  static constexpr Millis first_pause{1'000};
  static constexpr Millis longest_pause{60'000};
  /// A worker whose every kind has been unable to begin for so long should end.
  static constexpr Millis patience{600'000};

  /// How long to wait before the next try. Several failures at once, of tasks that were claimed
  /// together, are one.
  struct Opened {
    bool counts = false;  ///< it is not one of several at once
    Millis pause{};
  };
  Opened could_not_begin(const std::string& kind, const std::string& why, Millis now);
  /// True: it had been unable to, and is fine again.
  bool began(const std::string& kind);
  bool all_fine() const { return open_.empty(); }

  /// What to claim now of `kinds`: those that are fine, or a single task of one whose pause is
  /// over.
  struct Claimable {
    std::vector<std::string> kinds{};
    bool single = false;
  };
  Claimable claimable(const std::vector<std::string>& kinds, Millis now) const;
  /// A claim of a single task of `kind` was answered. Where there was none, or nothing is heard of
  /// the one that came, the next is tried after another pause.
  void tried(const std::string& kind, bool got_one, Millis now);
  /// When the next pause is over; nothing: all is fine.
  std::optional<Millis> next_try() const;

  /// Why a kind cannot begin, by kind; for people.
  std::map<std::string, std::string> reasons() const;
  /// Whether none of `kinds` has been able to begin for `patience`.
  bool hopeless(const std::vector<std::string>& kinds, Millis now) const;

 private:
  struct Open {
    std::string why{};
    Millis since{};
    Millis pause{};
    Millis until{};
    bool trying = false;  ///< a single task is claimed
  };
  std::map<std::string, Open> open_;
};

}  // namespace holdfast
