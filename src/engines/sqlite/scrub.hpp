#pragma once

#include <mutex>

#include <holdfast/integrity.hpp>

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Goes through the tasks of a store that is in use, again and again, a few rows at a time: no read
/// is long, because a long one would keep the log from being started anew, and SQLite's own check
/// is one long read. Compares rows with their checksums, and looks whether each index that should
/// have a row has it. One process at a time does this for a store.
class Scrub {
 public:
  explicit Scrub(Store& store) : store_{store} {}

  /// A few rows. The result when there is one: everything has been looked at, or damage was found.
  std::optional<IntegrityResult> step();

 private:
  bool is_due();
  void look(Connection& db);
  void look_in_indexes(Connection& db, std::int64_t from, std::int64_t to);

  Store& store_;
  std::mutex mutex_;
  bool ours_ = false;
  std::int64_t behind_ = 0;  ///< rows up to this one have been looked at
  Millis began_{0};
  Millis next_pass_{0};
  IntegrityResult result_{};
};

}  // namespace holdfast::sqlite
