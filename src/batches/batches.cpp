#include <holdfast/batches.hpp>

#include <fmt/format.h>

#include "batches/presence.hpp"
#include "batches/processing.hpp"
#include "batches/summary.hpp"
#include "batches/unit_engine.hpp"
#include "batches/validate.hpp"
#include "tasks/recovery_of.hpp"

namespace holdfast {

namespace {

/// How often a batch is looked at that somebody waits for.
constexpr Millis between_looks{200};

[[noreturn]] void no_such_batch(BatchId id) {
  throw InvalidRequest{fmt::format("there is no batch {}", id.text())};
}

/// Batches stay where they are, so there are to be no more of them in a store that others leave.
void refuse_if_being_moved(EngineParts& parts) {
  if (auto note = parts.move_note())
    throw StoreMoved{
        fmt::format("{} is being moved to {}, or was; submit there", parts.name(), note->to)};
}

/// Looks at a batch again and again. A store that goes away is not the end of it: the batch is then
/// as it was seen last.
class LastingLook {
 public:
  LastingLook(const Batches& batches, const Events& events, BatchId id)
      : batches_{batches}, events_{events}, id_{id} {}

  const BatchRecord& again() {
    try {
      last_ = batches_.status(id_);
      trouble_.clear();
    } catch (const StorageFailed&) {
      throw;
    } catch (const StoreError& error) {
      if (!last_) throw;
      if (trouble_ != error.what())
        events_.emit(StoreTrouble{fmt::format("looking at batch {}", id_.text()), error.what()});
      trouble_ = error.what();
    }
    if (!last_) no_such_batch(id_);
    return *last_;
  }

 private:
  const Batches& batches_;
  const Events& events_;
  BatchId id_;
  std::optional<BatchRecord> last_;
  std::string trouble_;
};

}  // namespace

Batches::Batches(Engine engine, BatchOptions options)
    : engine_{std::move(engine)}, options_{std::move(options)} {
  // Others would take our numbers of rows for those in their tables.
  if (!batch_store_of(engine_).is_shared() && options_.liveness)
    throw InvalidRequest{fmt::format(
        "{} tells workers about rows in tables that they share, and nobody shares those in {}; "
        "use it with a store in PostgreSQL",
        options_.liveness->name(), engine_.name())};
  if (options_.max_attempts < 1)
    throw InvalidRequest{"a row must be tried at least once (max_attempts)"};
}

Batches& Batches::on(std::string app, std::string op, RowProcessor processor) {
  validate_names(app, op);
  auto kind = unit_kind(app, op);
  if (!processors_.try_emplace({std::move(app), std::move(op)}, std::move(processor)).second)
    throw InvalidRequest{fmt::format("two processors for rows of {}; keep one", kind)};
  return *this;
}

Batches& Batches::initialise(std::string app, AppInitialiser initialiser) {
  if (!initialisers_.try_emplace(app, std::move(initialiser)).second)
    throw InvalidRequest{fmt::format("two initialisers for {}; keep one", app)};
  return *this;
}

Batches::Submitted Batches::submit(const NewBatch& batch) {
  validate(batch, engine_.settings());
  require_writable(engine_.parts());
  refuse_if_being_moved(engine_.parts());
  return batch_store_of(engine_).insert(BatchId::make(), batch);
}

BatchId Batches::submit_query(std::string app, std::string op, std::string input,
                              std::string context) {
  NewBatch batch{.app = std::move(app), .op = std::move(op), .context = std::move(context)};
  batch.rows.push_back({0, std::move(input)});
  return submit(batch).id;
}

void Batches::append(BatchId id, const std::vector<BatchRow>& rows, bool release) {
  validate_rows(rows, engine_.settings());
  if (rows.size() == 1 && rows[0].line == 0)
    throw InvalidRequest{"line 0 is the only row of a slow query; lines are counted from 1"};
  require_writable(engine_.parts());
  auto answer = batch_store_of(engine_).append(id, rows, release);
  if (answer == Appended::accepted) return;
  if (answer == Appended::line_is_there)
    throw LineIsThere{fmt::format(
        "batch {} has a row with one of these lines already; give them lines of their own",
        id.text())};
  auto found = status(id);
  if (!found) no_such_batch(id);
  throw InvalidRequest{fmt::format(
      "batch {} does not wait for rows: it is {}. Rows can be appended to a batch that was "
      "submitted with wait, until it is released",
      id.text(), to_string(found->status))};
}

bool Batches::release(BatchId id) {
  require_writable(engine_.parts());
  return batch_store_of(engine_).append(id, {}, true) == Appended::accepted;
}

bool Batches::abort(BatchId id) {
  require_writable(engine_.parts());
  auto& store = batch_store_of(engine_);
  auto found = store.find({.id = id, .count_rows = false});
  if (found.empty()) return false;
  std::vector<NewTask> follow_ups;
  if (auto one = follow_up_of(found.front(), BatchStatus::aborted)) follow_ups.push_back(*one);
  if (!store.abort(id, follow_ups)) return false;
  if (options_.liveness) cache(status(id).value());
  return true;
}

void Batches::cache(const BatchRecord& batch) const {
  try {
    note_in(*options_.liveness, batch_store_of(engine_), batch);
  } catch (const StoreError& error) {
    engine_.events().emit(StoreTrouble{
        fmt::format("telling {} how a batch stands", options_.liveness->name()), error.what()});
  }
}

std::optional<BatchStatus> Batches::glance(BatchId id) const {
  if (options_.liveness) {
    try {
      if (auto known = options_.liveness->cached(id)) return known;
    } catch (const StoreError& error) {
      engine_.events().emit(StoreTrouble{
          fmt::format("asking {} how a batch stands", options_.liveness->name()), error.what()});
    }
  }
  auto found = list({.id = id, .count_rows = false});
  if (found.empty()) return {};
  // With counters only where it has ended, because those of others would count the rows.
  auto batch = found.front().done_at ? status(id).value() : std::move(found.front());
  if (options_.liveness) cache(batch);
  return batch.status;
}

std::optional<BatchRecord> Batches::status(BatchId id) const {
  auto found = list({.id = id});
  if (found.empty()) return {};
  return std::move(found.front());
}

std::vector<BatchRecord> Batches::list(const BatchFilter& filter) const {
  return batch_store_of(engine_).find(filter);
}

std::vector<RowRecord> Batches::rows(const RowFilter& filter) const {
  return batch_store_of(engine_).rows(filter);
}

std::optional<std::string> Batches::output(BatchId id, const std::string& name) const {
  auto found = list({.id = id, .count_rows = false});
  if (found.empty()) no_such_batch(id);
  auto file = found.front().output_files.find(name);
  if (file == found.front().output_files.end()) return {};
  if (!options_.blobs)
    throw ConfigError{"output files are in a store of blobs; say which one it is (--output)"};
  return options_.blobs->get(file->second);
}

BatchRecord Batches::wait(BatchId id, const std::function<void(const BatchRecord&)>& progress,
                          std::stop_token stop) const {
  auto& tasks = engine_.parts().tasks();
  LastingLook look{*this, engine_.events(), id};
  while (true) {
    const auto& now = look.again();
    if (progress) progress(now);
    if (now.done_at || stop.stop_requested()) return now;
    // Not only the end of a batch wakes us, and not every end does.
    auto until = std::chrono::steady_clock::now() + between_looks;
    while (std::chrono::steady_clock::now() < until && !stop.stop_requested())
      tasks.wait_for_work(std::chrono::ceil<Millis>(until - std::chrono::steady_clock::now()));
  }
}

RecoveryReport Batches::recover(std::stop_token stop) {
  require_writable(engine_.parts());
  UnitEngine units{engine_, options_};
  return recovery_of(units).run_once("operator", std::move(stop));
}

Tasks Batches::work() const {
  auto processing = std::make_shared<Processing>(engine_, options_, processors_, initialisers_);
  Tasks tasks{Engine{std::make_shared<UnitEngine>(engine_, options_)}};
  for (const auto& [names, processor] : processors_) {
    const auto& [app, op] = names;
    tasks.on_json(unit_kind(app, op), [processing, app = app, op = op](Attempt& attempt) {
      return processing->process(app, op, attempt);
    });
  }
  return tasks;
}

namespace {

/// A row that is begun is finished.
WorkerOptions patient(WorkerOptions options) {
  if (!options.drain_timeout) options.drain_timeout = without_limit;
  return options;
}

}  // namespace

WorkerSummary run(const Batches& batches, WorkerOptions options) {
  return run(batches.work(), patient(std::move(options)));
}

WorkerSummary run(const Batches& batches, std::stop_token stop, WorkerOptions options) {
  return run(batches.work(), std::move(stop), patient(std::move(options)));
}

}  // namespace holdfast
