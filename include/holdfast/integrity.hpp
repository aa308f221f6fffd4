#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ids.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// What may be done with a store. Decided when it is opened, by what was found.
enum class RunLevel {
  normal,     ///< everything
  read_only,  ///< look and export; nothing is claimed, nothing is written
  halted,     ///< nothing, until a person has restored a backup or accepted the loss
};
std::string_view to_string(RunLevel level);

/// One thing that is wrong with a store.
struct Damage {
  enum class Kind {
    file,   ///< the database cannot be read as one: header, size, page
    wal,    ///< a commit that was acknowledged cannot be read back from the write-ahead log
    index,  ///< an index disagrees with its table; the rows are sound
    row,    ///< a row does not have the checksum that it was written with
    lost,   ///< a task that was there, or that others refer to, is not there any more
  };
  Kind kind = Kind::file;
  std::string what;              ///< a sentence
  std::optional<TaskId> task{};  ///< whose data it is, where that can be told
};
std::string_view to_string(Damage::Kind kind);

/// What a check of the store found.
struct IntegrityResult {
  bool passed = true;
  bool full = false;      ///< every page and index was read; a quick check leaves indexes out
  bool completed = true;  ///< false: stopped, or out of time, before everything was looked at
  Millis duration{0};
  std::int64_t rows_checked = 0;
  std::vector<Damage> damage{};
  std::string advice{};  ///< what to do about it; empty if nothing is wrong
};

}  // namespace holdfast
