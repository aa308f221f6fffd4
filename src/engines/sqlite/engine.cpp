#include "engines/sqlite/engine.hpp"

#include <holdfast/sqlite.hpp>

#include "engines/sqlite/adopt.hpp"
#include "engines/sqlite/disk.hpp"
#include "engines/sqlite/reports.hpp"
#include "engines/sqlite/schema.hpp"
#include "engines/sqlite/statements.hpp"
#include "engines/sqlite/store.hpp"
#include "engines/sqlite/task_admin.hpp"
#include "engines/sqlite/task_store.hpp"
#include "engines/sqlite/worker_registry.hpp"

namespace holdfast::sqlite {

namespace {

std::unique_ptr<Connection> connect(const std::string& path, Connection::Mode mode,
                                    Durability durability) {
  return std::make_unique<Connection>(path, mode, durability);
}

class SqliteEngine final : public EngineParts {
 public:
  SqliteEngine(const std::string& path, Settings settings, const Clock& clock,
               std::unique_ptr<Connection> first)
      : EngineParts{std::move(settings)},
        store_{path, std::move(first), this->settings().durability, clock, events()},
        tasks_{store_},
        admin_{store_},
        workers_{store_},
        reports_{store_} {}

  TaskStore& tasks() override { return tasks_; }
  TaskAdmin& admin() override { return admin_; }
  WorkerRegistry& workers() override { return workers_; }
  Reports& reports() override { return reports_; }
  const Clock& clock() const override { return store_.clock; }
  std::string name() const override { return "sqlite:" + store_.path; }
  Store& store() { return store_; }

 private:
  Store store_;
  SqliteTaskStore tasks_;
  SqliteTaskAdmin admin_;
  SqliteWorkerRegistry workers_;
  SqliteReports reports_;
};

}  // namespace

Store::Store(const std::string& file, std::unique_ptr<Connection> first, Durability durability,
             const Clock& a_clock, const Events& events)
    : path{file},
      files{file},
      clock{a_clock},
      clock_domain{holdfast::clock_domain()},
      writer{std::move(first), std::make_unique<FairLock>(files.write_lock()),
             disk_of(files.folder()).large_wal_pages()},
      reader{(prepare_schema(writer, file, clock.wall()),
              connect(file, Connection::Mode::read_only, durability))},
      watch{files, events} {}

std::shared_ptr<EngineParts> open_store(const std::string& path, Settings settings,
                                        const Clock& clock) {
  // The first connection comes before the side files: a file that is no database gets none.
  auto first = connect(path, Connection::Mode::read_write, settings.durability);
  return std::make_shared<SqliteEngine>(path, std::move(settings), clock, std::move(first));
}

std::vector<TaskId> enqueue_all(const Engine& engine, sqlite3* db, std::vector<NewTask> tasks) {
  auto* parts = dynamic_cast<SqliteEngine*>(&engine.parts());
  if (!parts) throw InvalidRequest{"this engine is not SQLite: " + engine.name()};
  for (const auto& task : tasks) validate(task, engine.settings());
  adopt(db, parts->store(), engine.settings().durability);
  Connection borrowed{db};
  std::vector<TaskId> ids;
  for (const auto& one : insert_tasks(borrowed, tasks, parts->store().clock.wall())) {
    ids.push_back(one.id);
  }
  return ids;
}

}  // namespace holdfast::sqlite
