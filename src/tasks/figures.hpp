#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/task_store.hpp"
#include "tasks/time_histogram.hpp"

namespace holdfast {

/// How often attempts began and how they ended.
struct Tally {
  std::int64_t started = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;   ///< became dead letters
  std::int64_t retried = 0;  ///< failed and will be tried again

  Tally& operator+=(const Tally& other);
  Tally since(const Tally& earlier) const;
  bool operator==(const Tally&) const = default;
};

/// What a worker counted since it enlisted. It is told with every heartbeat and only grows, so
/// whoever reads it takes the difference to what was read before: reading it twice counts nothing
/// twice, and missing one loses nothing.
struct Figures {
  struct OfKind {
    std::string kind{};
    Tally tally{};
    bool operator==(const OfKind&) const = default;
  };
  /// Where there are more kinds than this, the others share an entry without a name, so that what a
  /// heartbeat carries is bounded.
  static constexpr std::size_t most_kinds = 32;

  std::vector<OfKind> kinds{};
  TimeHistogram wait{};   ///< from being ready until the claim, of first attempts
  TimeHistogram run{};    ///< in the handler
  std::int64_t full = 0;  ///< how often the last free handler was given something to do
  /// These two do not grow, so sums and differences leave them out.
  bool draining = false;  ///< it claims nothing more
  std::string tells{};    ///< what it says of itself now, as `WorkerOptions::tells` has it
  /// Kinds that cannot begin there, and why. Does not grow either.
  std::map<std::string, std::string> paused{};
  /// What `WorkerOptions::troubles` has. Does not grow either.
  std::map<std::string, std::string> troubles{};

  Tally& of(std::string_view kind);
  Tally total() const;
  void add(const Figures& other);
  Figures since(const Figures& earlier) const;

  std::string text() const;
  /// Nothing if it is not what `text` wrote: another version of the program counts otherwise.
  static std::optional<Figures> parse(std::string_view text);

  bool operator==(const Figures&) const = default;
};

/// Counts claims that were answered at `now`, and how long they had waited.
void count_claims(Figures& figures, std::span<const Claimed> claimed, WallTime now);
/// Counts how attempts ended, as far as the store accepted it.
void count_ends(Figures& figures, std::span<const Settlement> sent,
                std::span<const Settled> answers);

}  // namespace holdfast
