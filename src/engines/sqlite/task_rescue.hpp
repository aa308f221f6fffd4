#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include <holdfast/task.hpp>

#include "engines/sqlite/page_salvage.hpp"
#include "engines/sqlite/row_sum.hpp"

namespace holdfast::sqlite {

/// A task as it goes into the new file.
struct RescuedTask {
  enum class Fate {
    sound,   ///< as it was written
    mended,  ///< one bit was wrong, and was put right
    held,    ///< something of it is wrong, or may be: a person must look at it
  };
  Fate fate = Fate::sound;
  std::int64_t seq = 0;
  Record record{};
  TaskId id{};
  TaskState from = TaskState::pending;  ///< of a held one: what its row said before
  std::string what{};                   ///< a sentence, unless it is sound
};

/// Decides what becomes of a task's record that was read from a damaged file.
class TaskRescue {
 public:
  /// What the indexes of the old file say, where a row cannot be believed.
  struct Witnesses {
    std::unordered_map<std::int64_t, TaskId> ids{};
    /// States of finished tasks, by number.
    std::unordered_map<std::int64_t, std::int64_t> finished{};

    explicit Witnesses(PageSalvage& old);
  };

  TaskRescue(const TableShape& tasks, Witnesses witnesses, WallTime now);

  /// Nothing if the record cannot be read as a task at all.
  std::optional<RescuedTask> rescue(const PageSalvage::Row& row) const;

  /// A finished task has no checksum: whether an index says something else about it than its row.
  /// Which of the two is right cannot be told.
  struct Contradiction {
    TaskId other{};  ///< the id according to the index
    std::string what{};
  };
  std::optional<Contradiction> contradiction(std::int64_t seq, const Record& record) const;

  /// Makes a held task of one that is sound.
  RescuedTask hold(std::int64_t seq, Record record, const std::string& cause) const;

 private:
  bool fits(const Record& record) const;
  bool payload_fits(const Record& record) const;
  SummedRow summed(const Record& record) const;
  std::optional<RescuedTask> mend(const PageSalvage::Row& row) const;
  std::optional<RescuedTask> hold_damaged(std::int64_t seq, Record record) const;
  std::optional<RescuedTask> settle_finished(std::int64_t seq, Record record) const;

  const TableShape& shape_;
  Witnesses witnesses_;
  WallTime now_;
  struct Places {
    std::size_t id, state, priority, run_at, token, owner, lease_until, finished_at, attempt,
        recoveries, crashes, suspect, cancel_requested, created_at, max_attempts, timeout, backoff,
        unique_key, tags, cause, payload_sum, row_sum, payload, lane;
  } at_;
};

}  // namespace holdfast::sqlite
