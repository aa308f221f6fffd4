#include <gmock/gmock.h>
#include <sqlite3.h>

#include <mutex>
#include <set>
#include <string>

#include <holdfast/holdfast.hpp>

#include "engines/sqlite/connection.hpp"
#include "support/questions.hpp"
#include "support/temp_store.hpp"

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

TEST(ListPlans, ReadNoTableOfTasksFromTheBeginningToTheEnd) {
  Statements statements;
  test::TempStore place;
  const auto engine = open(place.address());
  test::fill_with_tasks(engine);
  statements.forget();
  test::ask_every_question(engine);
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
