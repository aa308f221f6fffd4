#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/batch.hpp>
#include <holdfast/blobs.hpp>
#include <holdfast/engine.hpp>
#include <holdfast/error.hpp>
#include <holdfast/liveness.hpp>
#include <holdfast/payload.hpp>
#include <holdfast/worker.hpp>

namespace holdfast {

/// One attempt at a row, as its processor sees it.
struct RowAttempt {
  BatchId batch{};
  std::string app{};
  std::string op{};
  int line = 0;
  std::string input{};    ///< JSON text
  std::string context{};  ///< JSON text, of the batch
  /// The same for every attempt at this row: give it to whatever the processor calls, so that an
  /// effect repeated after a crash can be recognised.
  std::string idempotency_key{};
  int number = 1;  ///< 1 for the first
  /// Fires when the attempt should end: the batch was aborted, time is over, the worker ends, or
  /// the row is not its any more.
  std::stop_token stop{};
  std::any state{};  ///< what the initialiser of the application made
  /// For processors that keep a process running from row to row: `Attempt::open_shared_lock` and
  /// `Attempt::share_lock`, by which nobody runs the row again beside what a worker that is gone
  /// left. Empty outside of a worker.
  std::function<int()> open_shared_lock{};
  std::function<void(int lock)> share_lock{};
};

/// What a processor returns.
struct RowResult {
  bool success = true;
  std::string result{};  ///< JSON text; empty: none
  std::vector<RowMessage> messages{};
  /// Lines for output files by the name of the file. When the batch ends, each file is written with
  /// the lines of all rows in their order.
  std::map<std::string, std::string> output{};
};
RowResult row_failed(std::string code, std::string what);
template <class T>
RowResult row_done(const T& value) {
  return {.result = to_payload(value)};
}

/// A processor throws this where trying again may help: the row comes back a little later, up to
/// `BatchOptions::max_attempts` times.
class RetryRow : public Error {
  using Error::Error;
};

/// Returns the result; throwing anything but `RetryRow` fails the row with what was thrown as its
/// message. While the attempt is to stop, throwing gives the row back instead.
using RowProcessor = std::function<RowResult(const RowAttempt&)>;
/// Makes what the processors of an application share. Called once a worker, before its first row.
/// Throwing makes rows wait and come back: they fail when it has been thrown `max_attempts` times.
using AppInitialiser = std::function<std::any()>;

struct BatchOptions {
  /// Where output files go. Without it they cannot be written: a row that asks for one comes back a
  /// minute later, for a worker that has it.
  std::shared_ptr<BlobStore> blobs{};
  /// So often a row is begun, if it takes its worker with it or takes too long, before it fails.
  int max_attempts = 3;
  Millis row_timeout{std::chrono::hours{1}};  ///< per attempt; then its stop token fires
  /// Where the tables are shared with workers of another make: what those tell each other beside
  /// the tables, and hear from us. Empty: nothing.
  std::shared_ptr<Liveness> liveness{};
  /// One of those workers that dies leaves rows in progress that nobody has claimed in a way that
  /// we could check. They are queued again when recovery has known of them for so long, counted
  /// from the first time that it saw them, and none that a living worker says it has: longer than
  /// any of them takes for a row, because its late result would be written all the same. Zero: six
  /// heartbeat intervals while `liveness` answers, else never.
  Millis queue_unclaimed_after{0};
};

/// Somebody else may have appended the same rows.
class LineIsThere : public InvalidRequest {
 public:
  using InvalidRequest::InvalidRequest;
};

/// Batches of rows on an engine: submit them here, say how rows are processed, and `run` them in
/// this process, another, or many.
class Batches {
 public:
  explicit Batches(Engine engine, BatchOptions options = {});

  /// Says how rows of `app` and `op` are processed. A worker only claims rows that it has a
  /// processor for.
  Batches& on(std::string app, std::string op, RowProcessor processor);
  /// The same with a type: `processor(const T&, const RowAttempt&)`. Input that does not fit fails.
  template <class T, class F>
  Batches& on(std::string app, std::string op, F processor) {
    return on(std::move(app), std::move(op),
              [processor = std::move(processor)](const RowAttempt& row) -> RowResult {
                return processor(from_payload<T>(row.input), row);
              });
  }
  Batches& initialise(std::string app, AppInitialiser initialiser);

  /// Submits a batch, durable when this returns. A file that was taken before is not taken again:
  /// `created` is false, and the id is that of the batch that it became.
  struct Submitted {
    BatchId id{};
    bool created = true;
  };
  Submitted submit(const NewBatch& batch);
  /// A slow query: a batch of a single row, with line 0.
  BatchId submit_query(std::string app, std::string op, std::string input,
                       std::string context = "{}");
  /// More rows for a batch that waits, which `release` lets run at once. Throws `InvalidRequest`
  /// if it does not wait, and `LineIsThere` if it has a row with one of their lines: nothing is
  /// appended then.
  void append(BatchId id, const std::vector<BatchRow>& rows, bool release = false);
  /// Lets a batch run that waits. False: it does not wait, or is not there.
  bool release(BatchId id);
  /// Calls a batch off: rows that are not done become aborted now, and whoever runs one is told to
  /// stop and can write nothing any more. False: it has ended already, or is not there.
  bool abort(BatchId id);

  std::optional<BatchRecord> status(BatchId id) const;
  /// Its status alone and perhaps a minute old: where `BatchOptions::liveness` knows it, the store
  /// is not asked, and what the store says is left there for others. Nothing: there is none.
  std::optional<BatchStatus> glance(BatchId id) const;
  std::vector<BatchRecord> list(const BatchFilter& filter = {}) const;
  std::vector<RowRecord> rows(const RowFilter& filter) const;
  /// The content of an output file; nothing: there is none of that name.
  std::optional<std::string> output(BatchId id, const std::string& name) const;
  /// Waits until the batch has ended and returns it; `progress` hears how far it is now and then.
  /// When `stop` is requested it returns the batch as it is. A store that goes away meanwhile is
  /// waited for. Throws `InvalidRequest` if there is no such batch.
  BatchRecord wait(BatchId id, const std::function<void(const BatchRecord&)>& progress = {},
                   std::stop_token stop = {}) const;

  /// Takes back the rows of dead workers now. Workers do that by themselves.
  RecoveryReport recover(std::stop_token stop = {});

  /// The processing of rows in the shape of tasks, for a `Worker` that is not `run`.
  Tasks work() const;

  const Engine& engine() const { return engine_; }

 private:
  void cache(const BatchRecord& batch) const;

  Engine engine_;
  BatchOptions options_;
  std::map<std::pair<std::string, std::string>, RowProcessor> processors_;
  std::map<std::string, AppInitialiser> initialisers_;
};

/// Processes rows until SIGTERM or SIGINT: then what is begun is finished, however long that takes
/// unless `options.drain_timeout` says otherwise, and what is not is given back. A second signal
/// stops processors now.
WorkerSummary run(const Batches& batches, WorkerOptions options = {});
/// The same until `stop` is requested.
WorkerSummary run(const Batches& batches, std::stop_token stop, WorkerOptions options = {});

}  // namespace holdfast
