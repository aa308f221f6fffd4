#include "batches/processing.hpp"

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "batches/summary.hpp"
#include "batches/unit_engine.hpp"
#include "batches/unit_result.hpp"
#include "batches/zeros.hpp"
#include "tasks/json_text.hpp"

namespace holdfast {

namespace {

/// So many batches' contexts are remembered; who works on more at a time asks again.
constexpr std::size_t most_contexts = 1'000;
constexpr Millis until_somebody_else_comes{60'000};

/// A result that cannot be kept is the processor's fault, and would be the same next time.
RowResult checked(RowResult result) {
  if (auto fault = json_fault(result.result); !result.result.empty() && !fault.empty())
    return row_failed("bad_result", fmt::format("the result is not JSON: {}", fault));
  return result;
}

std::string packed(const RowResult& result) {
  UnitResult unit;
  unit.status = result.success ? BatchStatus::success : BatchStatus::failed;
  unit.result = without_zeros(result.result);
  unit.messages = without_zeros(messages_json(result.messages));
  unit.output = without_zeros(names_json(result.output));
  return pack(unit);
}

}  // namespace

Processing::Processing(Engine engine, BatchOptions options, Processors processors,
                       std::map<std::string, AppInitialiser> initialisers)
    : engine_{std::move(engine)},
      store_{batch_store_of(engine_)},
      options_{std::move(options)},
      processors_{std::move(processors)},
      initialisers_{std::move(initialisers)} {}

Outcome Processing::process(const std::string& app, const std::string& op, Attempt& attempt) {
  if (row_of(attempt.task())) return process_row(app, op, attempt);
  Summary summary{engine_.parts(), store_, options_.blobs.get()};
  return summary.make(batch_of_summary(attempt.task()), attempt);
}

Outcome Processing::process_row(const std::string& app, const std::string& op, Attempt& attempt) {
  auto unit = unpack_unit(attempt.payload());
  const auto context = context_of(unit.batch);
  RowAttempt row{
      .batch = unit.batch,
      .app = app,
      .op = op,
      .line = unit.line,
      .input = std::move(unit.input),
      .context = *context,
      .idempotency_key = fmt::format("{}/{}", unit.batch.text(), *row_of(attempt.task())),
      .number = attempt.number(),
      .stop = attempt.stop_token(),
      .state = state_of(app),
      .open_shared_lock = [&] { return attempt.open_shared_lock(); },
      .share_lock = [&](int lock) { attempt.share_lock(lock); }};
  auto result = ask(processors_.at({app, op}), row);
  // Not the row's fault: a worker that was started as it should be can do it.
  if (!result.output.empty() && !options_.blobs) return leave_to_others(row);
  return Done{.text = packed(checked(std::move(result)))};
}

Outcome Processing::leave_to_others(const RowAttempt& row) const {
  engine_.events().emit(StoreTrouble{
      fmt::format("keeping the result of line {} of batch {}", row.line, row.batch.text()),
      "it has lines for output files, and this worker was not told where those go (--output)"});
  return snooze(until_somebody_else_comes);
}

RowResult Processing::ask(const RowProcessor& processor, const RowAttempt& row) const {
  try {
    return processor(row);
  } catch (const EarlierAttemptRuns&) {
    throw;
  } catch (const LeaseLost&) {
    throw;
  } catch (const CannotBegin&) {
    throw;
  } catch (const RetryRow& error) {
    // What logs say about units names them by numbers that nobody else uses.
    throw RetryRow{
        fmt::format("line {} of batch {}: {}", row.line, row.batch.text(), error.what())};
  } catch (const std::exception& error) {
    // One that was told to stop has not come to a result: that is for the worker to settle.
    if (row.stop.stop_requested()) throw;
    return row_failed("processing_error", error.what());
  }
}

std::shared_ptr<const std::string> Processing::context_of(BatchId batch) {
  {
    std::lock_guard lock{mutex_};
    auto known = contexts_.find(batch);
    if (known != contexts_.end()) return known->second;
  }
  std::vector<BatchRecord> found;
  try {
    found = store_.find({.id = batch, .count_rows = false});
  } catch (const StoreError& error) {
    // Not the row's fault, and its processor has not begun.
    throw CannotBegin{fmt::format("the batch cannot be read: {}", error.what())};
  }
  auto context =
      std::make_shared<const std::string>(found.empty() ? "{}" : std::move(found[0].context));
  std::lock_guard lock{mutex_};
  if (contexts_.size() >= most_contexts) contexts_.clear();
  contexts_[batch] = context;
  return context;
}

std::any Processing::state_of(const std::string& app) {
  // Held while the initialiser runs: the rows of other threads need what it makes, too.
  std::lock_guard lock{mutex_};
  auto made = states_.find(app);
  if (made != states_.end()) return made->second;
  auto initialiser = initialisers_.find(app);
  if (initialiser == initialisers_.end()) return {};
  try {
    return states_[app] = initialiser->second();
  } catch (const std::exception& error) {
    states_.erase(app);
    throw CannotBegin{fmt::format("the initialiser of {} failed: {}", app, error.what())};
  }
}

}  // namespace holdfast
