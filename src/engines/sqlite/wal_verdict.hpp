#pragma once

#include <string>

#include <holdfast/settings.hpp>

#include "engines/sqlite/wal_scan.hpp"

namespace holdfast::sqlite {

/// What the processes that had the store open agreed upon about the log, in the file `FILE-shm`. It
/// is shared memory: exact as long as the machine runs, and after a power cut at least a moment in
/// the past, because a commit is noted there after it was synced.
struct WalIndex {
  WalSalt salt{};
  int frames = 0;      ///< up to the last commit
  int backfilled = 0;  ///< so many of them are in the database already
  /// Nothing if the bytes are not a whole index.
  static std::optional<WalIndex> parse(std::span<const std::uint8_t> from);
  static constexpr std::size_t bytes = 136;
};

/// What the log is good for.
struct WalVerdict {
  enum class Kind {
    sound,
    /// It ends in a commit that was not finished. Nothing that was acknowledged is missing.
    torn,
    /// The same, but one whole commit lies behind the gap: that may have been acknowledged.
    doubtful,
    /// Commits that were acknowledged cannot be read any more. What was committed before them can.
    damaged,
    /// The log cannot be used at all: reading the database with it would mix old and new.
    unusable,
    /// The log cannot be read, and need not be: everything in it is in the database.
    superfluous,
  };
  Kind kind = Kind::sound;
  std::string what{};    ///< a sentence; empty if it is sound
  int lost_commits = 0;  ///< at least so many, where that can be told

  bool is_loss() const { return kind == Kind::damaged || kind == Kind::unusable; }
};

struct WalCircumstances {
  std::optional<WalIndex> index{};
  bool rebooted = true;  ///< or not known: then unsynced writes may be missing
  Durability durability = Durability::power_safe;
  /// What we noted beside the database: there was at least this.
  std::optional<WalIndex> noted{};
  /// Nobody has written to the database since, so the last commit that was noted is not in it.
  bool database_untouched = false;
};

WalVerdict judge_wal(const WalScan& scan, const WalCircumstances& circumstances);

}  // namespace holdfast::sqlite
