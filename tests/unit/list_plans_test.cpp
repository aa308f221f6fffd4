#include <gmock/gmock.h>
#include <sqlite3.h>

#include <mutex>
#include <set>
#include <string>

#include <holdfast/holdfast.hpp>

#include "engines/sqlite/connection.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::sqlite {
namespace {

using testing::IsEmpty;

/// Hears every statement that connections run which were opened after it.
class Statements {
 public:
  Statements() {
    listener_ = this;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&begin_to_listen));
  }
  ~Statements() {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&begin_to_listen));
    listener_ = nullptr;
  }
  Statements(const Statements&) = delete;
  Statements& operator=(const Statements&) = delete;

  void forget() {
    std::lock_guard lock{mutex_};
    heard_.clear();
  }
  std::set<std::string> heard() {
    std::lock_guard lock{mutex_};
    return heard_;
  }

 private:
  static int begin_to_listen(sqlite3* db, char**, const sqlite3_api_routines*) {
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, &hear, nullptr);
  }
  static int hear(unsigned, void*, void* statement, void*) {
    if (!listener_) return 0;
    std::lock_guard lock{listener_->mutex_};
    listener_->heard_.insert(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
    return 0;
  }

  inline static Statements* listener_ = nullptr;
  std::mutex mutex_;
  std::set<std::string> heard_;
};

/// The tables that a statement would read from their first row to the last.
std::vector<std::string> scanned(Connection& db, const std::string& sql) {
  std::vector<std::string> found;
  Connection::Once plan{db, "EXPLAIN QUERY PLAN " + sql};
  while (plan->step()) {
    const auto step = plan->text(3);
    const bool reads_tasks =
        step.starts_with("SCAN holdfast_tasks") || step == "SCAN t" || step.starts_with("SCAN t ");
    if (reads_tasks && step.find(" USING ") == step.npos) found.push_back(step);
  }
  return found;
}

/// With tasks in every state, so that every way to look for them is taken.
void fill(const Engine& engine) {
  Tasks tasks{engine};
  tasks.on_json("good", [](Attempt&) -> Outcome { return done; });
  tasks.on_json("bad", [](Attempt&) -> Outcome { return fail("bad"); });
  for (const auto* kind : {"good", "bad", "waits"}) tasks.enqueue(kind, 1, {.tags = {"tag"}});
  Worker{tasks, {.until_empty = true}}.run();
}

TEST(ListPlans, ReadNoTableOfTasksFromTheBeginningToTheEnd) {
  Statements statements;
  test::TempStore place;
  const auto engine = open(place.address());
  fill(engine);
  const Inspector inspector{engine};
  const auto first = inspector.tasks({}, {.limit = 1}).at(0).id;
  statements.forget();
  for (const auto& filter : {TaskFilter{}, TaskFilter{.states = {TaskState::failed}},
                             TaskFilter{.states = {TaskState::completed, TaskState::pending}},
                             TaskFilter{.queue = "default"}, TaskFilter{.kind = "good"},
                             TaskFilter{.tag = "tag"}, TaskFilter{.priority = 3},
                             TaskFilter{.created_since = WallTime{}}, TaskFilter{.ids = {first}}}) {
    TaskPage page{.longest_text = 10};
    page.go_on = [](TaskId) { return true; };
    inspector.tasks(filter, page);
    page.after = first;
    inspector.tasks(filter, page);
    inspector.count(filter);
  }
  inspector.queues();
  inspector.workers();
  inspector.reports(20);
  inspector.explain(first);
  inspector.history(first);
  inspector.logs(first);
  engine.parts().limits().list();
  engine.parts().schedules().list();
  engine.parts().workers().figures(std::chrono::hours{1});
  Connection db{place.database(), Connection::Mode::read_only, {}};
  const auto heard = statements.heard();
  EXPECT_GT(heard.size(), 15u);
  for (const auto& sql : heard) {
    if (sql.find("holdfast_tasks") == sql.npos) continue;
    EXPECT_THAT(scanned(db, sql), IsEmpty()) << sql;
  }
  EXPECT_EQ(scanned(db, "SELECT * FROM holdfast_tasks WHERE tags = 'a'").size(), 1u)
      << "this is how one would be seen";
}

}  // namespace
}  // namespace holdfast::sqlite
