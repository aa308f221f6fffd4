#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/engine.hpp>

#include "recovery/clock.hpp"
#include "recovery/recovery_memory.hpp"
#include "recovery/reports.hpp"
#include "recovery/worker_registry.hpp"
#include "tasks/limit_store.hpp"
#include "tasks/metrics_history.hpp"
#include "tasks/schedule_store.hpp"
#include "tasks/task_admin.hpp"
#include "tasks/task_store.hpp"
#include "tasks/task_transfer.hpp"

namespace holdfast {

class BatchStore;
class Broker;
class TransactionStore;

/// What an engine is made of. One class in each engine's folder implements it.
class EngineParts {
 public:
  explicit EngineParts(Settings settings) : settings_{std::move(settings)} {}
  virtual ~EngineParts() = default;

  virtual TaskStore& tasks() = 0;
  virtual TaskAdmin& admin() = 0;
  virtual WorkerRegistry& workers() = 0;
  virtual Reports& reports() = 0;
  /// Nothing: this engine cannot keep them.
  virtual ScheduleStore* schedule_store() { return nullptr; }
  virtual LimitStore* limit_store() { return nullptr; }
  virtual MetricsHistory* metrics_history() { return nullptr; }
  virtual TaskTransfer* task_transfer() { return nullptr; }
  virtual TransactionStore* transaction_store() { return nullptr; }
  virtual BatchStore* batch_store() { return nullptr; }
  virtual const Clock& clock() const = 0;
  virtual std::string name() const = 0;
  /// The same for a store that others have to tell from all stores of all hosts.
  virtual std::string name_everywhere() const { return name(); }
  /// The queues for messages in the same store, for the engine that has these parts; null: it has
  /// none.
  virtual std::shared_ptr<Broker> own_broker(const Engine&) { return nullptr; }

  /// What may be done with the store, as found when it was opened.
  virtual RunLevel run_level() const { return RunLevel::normal; }
  virtual std::string why_read_only() const { return {}; }
  /// What was found that keeps the store from being changed, as long as it does.
  virtual std::optional<StartUp> standing_trouble() const { return {}; }
  /// What a crash of the store may cost, in one word, and what to do if that is more than people
  /// expect; see `Inspector::durability`.
  virtual std::string durability() const {
    return settings_.durability == Durability::power_safe ? "power-safe" : "crash-safe";
  }
  virtual std::string durability_warning() const { return {}; }
  /// What was found when this process opened the store as the first one. Returned once, so that
  /// the first recovery reports it and no other does.
  virtual std::optional<StartUp> take_start_up() { return {}; }
  /// The same, left there; nothing once it was taken.
  virtual std::optional<StartUp> start_up() { return {}; }
  /// Looks for damage without changing anything. Quick: every page that a table needs, and the
  /// checksums of unfinished tasks. Full: indexes too, and whether tables fit to each other.
  virtual IntegrityResult check_integrity(bool full, std::stop_token stop) = 0;
  /// A small step of a check that goes on while the store is in use; the result when there is one.
  /// To be called now and then by whoever works for long.
  virtual std::optional<IntegrityResult> scrub() { return {}; }

  /// The same for who needs them: throw `InvalidRequest` for an engine that cannot keep them.
  ScheduleStore& schedules();
  LimitStore& limits();
  TaskTransfer& transfer();
  TransactionStore& transactions();
  /// What the store knows of its being moved away; nothing too for an engine that knows no moves.
  std::optional<MoveNote> move_note();

  /// What recoveries of this process remember about tasks, and about rows and summaries.
  virtual RecoveryMemory& recovery_memory() { return task_memory_; }
  RecoveryMemory& row_recovery_memory() { return row_memory_; }

  const Settings& settings() const { return settings_; }
  virtual Events& events() { return events_; }

 private:
  Settings settings_;
  Events events_;
  RecoveryMemory task_memory_, row_memory_;
};

/// Throws `StoreReadOnly` with the reason unless everything may be done with the store.
void require_writable(const EngineParts& parts);
/// Throws `StoreMoved` if all of it is in another store now: what is done here changes nothing.
void require_not_moved(EngineParts& parts);

}  // namespace holdfast
