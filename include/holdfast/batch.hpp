#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include <holdfast/task.hpp>

namespace holdfast {

/// The id of a batch. Its text is a UUID, because the tables of batches in PostgreSQL may be shared
/// with programs that know nothing else. New ones are of version 7: later ones sort later.
struct BatchId {
  std::array<std::uint8_t, 16> bytes{};

  static BatchId make();
  static std::optional<BatchId> parse(std::string_view text);
  std::string text() const;
  auto operator<=>(const BatchId&) const = default;
};

/// Of a batch and of each of its rows. A row never waits.
enum class BatchStatus : std::uint8_t {
  queued,   ///< nobody has begun
  inprog,   ///< a row: claimed by a worker; a batch: some of it was begun
  success,  ///< final: all went well
  failed,   ///< final: a row that failed; a batch with one that did
  aborted,  ///< final: called off before it was done
  wait,     ///< a batch that is held: rows may be appended, and none runs until it is released
};
inline constexpr int batch_status_count = 6;
std::string_view to_string(BatchStatus status);
std::optional<BatchStatus> parse_batch_status(std::string_view text);
constexpr bool is_final(BatchStatus status) {
  return status == BatchStatus::success || status == BatchStatus::failed ||
         status == BatchStatus::aborted;
}

/// One row as it is submitted.
struct BatchRow {
  int line = 1;         ///< from 1; 0 only for the single row of a slow query
  std::string input{};  ///< JSON text
};

/// The file that a batch was read from. A file with the same content is taken once for each
/// application and operation.
struct BatchFile {
  std::string name{};
  std::int64_t bytes = 0;
  std::string checksum{};  ///< of the content; see `checksum_of`
  std::string content_type{};
};

struct NewBatch {
  std::string app{};
  std::string op{};  ///< in lower case, as the tables want it
  std::vector<BatchRow> rows{};
  std::string context = "{}";  ///< JSON text that every row's processor gets
  bool wait = false;           ///< hold it: more rows are to come, and none runs before `release`
  /// A task of this kind is enqueued in the same commit that ends the batch, so it comes for every
  /// batch that ended, and never for a summary that was not written. Empty: none. Its payload is
  /// a `BatchEnded`, and its id is made from the batch's, so it is there once.
  std::string then{};
  std::optional<BatchFile> file{};
};

/// What the task that `NewBatch::then` names is told.
struct BatchEnded {
  std::string batch{};
  std::string app{};
  std::string op{};
  std::string status{};
};
BOOST_DESCRIBE_STRUCT(BatchEnded, (), (batch, app, op, status))

struct BatchCounts {
  std::int64_t of[batch_status_count] = {};
  std::int64_t& operator[](BatchStatus status) { return of[static_cast<std::size_t>(status)]; }
  std::int64_t operator[](BatchStatus status) const { return of[static_cast<std::size_t>(status)]; }
  std::int64_t open() const { return (*this)[BatchStatus::queued] + (*this)[BatchStatus::inprog]; }
  std::int64_t all() const;
};

/// A batch as it stands in the store.
struct BatchRecord {
  BatchId id{};
  std::string app{};
  std::string op{};
  BatchStatus status = BatchStatus::queued;
  std::string context{};          ///< JSON text
  std::size_t context_bytes = 0;  ///< of the whole, where a filter asked for less
  std::string input_file{};       ///< the name of the file it was read from; empty: none
  std::string then{};
  WallTime submitted_at{};
  std::optional<WallTime> done_at{};
  BatchCounts rows{};                                 ///< how many rows are how far
  std::map<std::string, std::string> output_files{};  ///< logical name to key of the blob
};

/// What a processor has to say about a row, for people.
struct RowMessage {
  int id = 0;
  std::string code{};
  std::string field{};
  std::vector<std::string> values{};
};

/// A row as it stands in the store.
struct RowRecord {
  std::int64_t id = 0;  ///< within the store; never used again
  int line = 0;
  BatchStatus status = BatchStatus::queued;
  std::string input{};          ///< JSON text
  std::string result{};         ///< JSON text; empty: none
  std::string messages{};       ///< JSON text: a list; empty: none
  std::string output{};         ///< JSON text: lines for output files by name; empty: none
  std::string done_by{};        ///< the worker that has it or had it last
  int attempt = 0;              ///< of the one that goes on; 0 once it is done
  std::size_t input_bytes = 0;  ///< of the whole, where a filter asked for less
  std::size_t result_bytes = 0;
  std::size_t messages_bytes = 0;
  std::size_t output_bytes = 0;
  std::optional<WallTime> done_at{};
};

/// Which batches. Every field narrows; an empty one does not.
struct BatchFilter {
  std::optional<BatchId> id{};
  std::string app{};
  std::string op{};
  std::vector<BatchStatus> statuses{};
  bool count_rows = true;  ///< that costs time by the number of rows
  int limit = 50;          ///< the newest first
  /// To go on after the last one of the page before. One that is not there has none after it.
  std::optional<BatchId> after{};
  /// The context is cut to so many characters; `BatchRecord` has its whole size.
  std::size_t longest_text = std::numeric_limits<std::size_t>::max();
};

/// Which rows of a batch, in the order of lines.
struct RowFilter {
  BatchId batch{};
  std::vector<BatchStatus> statuses{};
  bool with_output = false;    ///< only rows with lines for output files
  int after_line = -1;         ///< to go on after the last one of the page before
  std::int64_t after_row = 0;  ///< and after this one within that line
  int limit = 1'000;
  /// Input, result, messages and output are cut to so many characters; `RowRecord` has their whole
  /// sizes.
  std::size_t longest_text = std::numeric_limits<std::size_t>::max();
};

}  // namespace holdfast
