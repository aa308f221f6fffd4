#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <holdfast/batches.hpp>

#include "tasks/task_store.hpp"

namespace holdfast {

/// What is claimed of a batch is a unit: one of its rows or, when no row is open any more, its
/// summary. Claims, leases, boards and reports know units by ids in the shape of a task's.
TaskId unit_of_row(std::int64_t row);
TaskId unit_of_summary(BatchId batch);
/// The number of the row; nothing: it is a summary.
std::optional<std::int64_t> row_of(const TaskId& unit);
BatchId batch_of_summary(const TaskId& unit);

/// What people call a unit: `line 5 of batch ...`, `the summary of batch ...`.
std::string name_of_row(BatchId batch, std::int64_t line);
std::string name_of_summary(BatchId batch);

/// What a unit's processor needs, as it travels in `Claimed::payload`.
struct UnitPayload {
  BatchId batch{};
  int line = 0;
  std::string input{};  ///< of a row
};
std::string pack(const UnitPayload& unit);
UnitPayload unpack_unit(std::string_view payload);
/// The same without the input.
std::pair<BatchId, int> place_of(std::string_view payload);

/// The kind of units, by which they are claimed. No name of an application has a slash in it.
std::string unit_kind(std::string_view app, std::string_view op);

/// The end of an attempt at a unit, decided above the stores.
struct UnitEnd {
  Lease lease{};
  /// A row: success, failed, or queued to run again. A summary: how the batch ended, or queued.
  BatchStatus to = BatchStatus::success;
  std::string result{};    ///< of a row: JSON text
  std::string messages{};  ///< of a row: JSON text
  /// JSON text. Of a row: lines by file. Of a summary: keys of blobs by file.
  std::string output{};
  BatchCounts counts{};               ///< of a summary
  int attempt = 0;                    ///< charged from now on; for queued
  bool was_attempt = true;            ///< false: given back; a suspect stays one
  Millis delay{0};                    ///< for queued
  std::vector<NewTask> follow_ups{};  ///< of a summary: inserted in the same step
};

/// Which rows that are in progress without a claim are looked for.
struct Unclaimed {
  /// Those that somebody of ours has seen so for at least as long, by the clock of the store.
  Millis seen_for{0};
  std::vector<std::int64_t> left{};     ///< and these: their worker is known to be dead
  std::vector<std::int64_t> at_work{};  ///< their worker is known to live: none of these
};

/// A row in progress without a claim.
struct UnclaimedRow {
  std::int64_t row = 0;
  std::int64_t seen_at = 0;  ///< since when, by the clock of the store
  bool left = false;         ///< as `Unclaimed` says
};

enum class Appended { accepted, does_not_wait, line_is_there };

/// Batches and their rows. Everything is batch-shaped, atomic, and compares tokens; what is to be
/// done is decided by the callers.
///
/// Of `Leases`: a verdict of `pending` queues a unit again, one of `failed` ends a row with the
/// reason among its messages. A summary is never failed.
class BatchStore : public Leases {
 public:
  /// Inserts a batch with its rows, all or nothing; durable when it returns. If its file was taken
  /// before, nothing is inserted and the answer names the batch that it became.
  virtual Batches::Submitted insert(BatchId id, const NewBatch& batch) = 0;

  /// Adds rows to a batch and releases it, if it waits and has none of their lines yet; else
  /// nothing is done.
  virtual Appended append(BatchId id, std::span<const BatchRow> rows, bool release) = 0;

  /// Ends a batch that has not ended: its open rows are aborted, their claims void, the counters
  /// right, and the follow-ups inserted. False: it had ended, and nothing was done.
  virtual bool abort(BatchId id, std::span<const NewTask> follow_ups) = 0;

  virtual std::vector<BatchRecord> find(const BatchFilter& filter) = 0;
  virtual std::vector<RowRecord> rows(const RowFilter& filter) = 0;

  /// Ends and claims in one step. A row that is ended must still be in progress and claimed under
  /// that token; a summary is accepted if the batch has not ended and no row of it is open. What is
  /// claimed is shared out between the batches that are open. `Exchanged::also` stays empty.
  virtual Exchanged exchange(std::span<const UnitEnd> ends,
                             const std::optional<ClaimRequest>& claim) = 0;

  /// As `TaskStore::exchanges_side_by_side`.
  virtual bool exchanges_side_by_side() const { return false; }

  /// As `TaskStore::next_due`.
  virtual std::optional<WallTime> next_due(const ClaimRequest& claim) = 0;

  /// Whether programs that know nothing of claims may use the same tables.
  virtual bool is_shared() const { return false; }

  /// Rows that are in progress without a claim. Notes when it saw each for the first time. Only a
  /// program that shares the tables and knows nothing of claims leaves such rows, so where there is
  /// none there is nothing to do.
  virtual std::vector<UnclaimedRow> unclaimed(const Unclaimed&) { return {}; }
  /// Makes claims for them, held by nobody, so that they are orphans like others; not of those that
  /// were worked on since.
  virtual void claim_for_nobody(std::span<const UnclaimedRow>) {}
};

/// The messages of a row that came to its end without its processor's word.
std::string messages_about(std::string_view reason);

}  // namespace holdfast
