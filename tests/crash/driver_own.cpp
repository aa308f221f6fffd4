#include "crash/driver_own.hpp"

#include <libpq-fe.h>
#include <sqlite3.h>

#include <stdexcept>

#include <fmt/format.h>

#include <holdfast/postgres.hpp>
#include <holdfast/sqlite.hpp>

#include "crash/driver_tasks.hpp"

namespace holdfast::test {

namespace {

class OnSqlite final : public OwnConnection {
 public:
  OnSqlite(const Engine& engine, const std::string& file) : engine_{engine} {
    if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) throw std::runtime_error{"cannot open it"};
    sqlite3_busy_timeout(db_, 30'000);
  }
  ~OnSqlite() override { sqlite3_close(db_); }
  void execute(const std::string& sql) override { run(sql, nullptr); }
  std::int64_t number(const std::string& sql) override {
    std::int64_t value = 0;
    run(sql, &value);
    return value;
  }
  void complete(const Attempt& attempt, const std::string& result) override {
    sqlite::complete(engine_, db_, attempt, result);
  }

 private:
  void run(const std::string& sql, std::int64_t* value) {
    auto read = [](void* into, int, char** texts, char**) {
      if (into) *static_cast<std::int64_t*>(into) = std::stoll(texts[0]);
      return 0;
    };
    if (sqlite3_exec(db_, sql.c_str(), read, value, nullptr) != SQLITE_OK)
      throw std::runtime_error{sqlite3_errmsg(db_)};
  }

  Engine engine_;
  sqlite3* db_ = nullptr;
};

class OnPostgres final : public OwnConnection {
 public:
  OnPostgres(const Engine& engine, const std::string& connection)
      : engine_{engine}, db_{PQconnectdb(connection.c_str()), PQfinish} {}
  void execute(const std::string& sql) override { run(sql); }
  std::int64_t number(const std::string& sql) override { return std::stoll(run(sql)); }
  void complete(const Attempt& attempt, const std::string& result) override {
    postgres::complete(engine_, db_.get(), attempt, result);
  }

 private:
  std::string run(const std::string& sql) {
    std::unique_ptr<PGresult, void (*)(PGresult*)> result{PQexec(db_.get(), sql.c_str()), PQclear};
    auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error{PQerrorMessage(db_.get())};
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

  Engine engine_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> db_;
};

}  // namespace

OwnTables::OwnTables(const Engine& engine, const std::string& address) : engine_{engine} {
  auto rest = address.substr(address.find(':') + 1);
  if (address.starts_with("sqlite:")) {
    table_ = "own_rows";
    connect_ = [this, rest] { return std::make_unique<OnSqlite>(engine_, rest); };
  } else {
    auto schema = rest.find(" schema=");
    table_ = rest.substr(schema + 8) + "_own_rows";
    connect_ = [this, to = rest.substr(0, schema)] {
      return std::make_unique<OnPostgres>(engine_, to);
    };
  }
  // No key: a second row for the same task must be seen.
  connect_()->execute(fmt::format("CREATE TABLE IF NOT EXISTS {} (task text)", table_));
}

void OwnTables::add_handler(Tasks& tasks, const Journal& journal) {
  tasks.on<Order>("own", [&](const Order&, Attempt& attempt) { return handle(attempt, journal); });
}

Outcome OwnTables::handle(const Attempt& attempt, const Journal& journal) {
  journal.say(Said::started, attempt.task(), attempt.token());
  auto db = connect_();
  db->execute(table_ == "own_rows" ? "BEGIN IMMEDIATE" : "BEGIN");
  db->execute(fmt::format("INSERT INTO {} VALUES ('{}')", table_, attempt.task().text()));
  db->complete(attempt, to_payload(OrderResult{attempt.token().value}));
  journal.say(Said::returned, attempt.task(), attempt.token(), "done");
  db->execute("COMMIT");
  return done;
}

void OwnTables::expect_one_row_for_each_task() {
  auto db = connect_();
  auto rows = db->number(fmt::format("SELECT count(*) FROM {}", table_));
  auto tasks = db->number(fmt::format("SELECT count(DISTINCT task) FROM {}", table_));
  auto completed = Inspector{engine_}.count({.states = {TaskState::completed}, .kind = "own"});
  if (rows != tasks || tasks != completed)
    throw std::runtime_error{
        fmt::format("{} rows for {} tasks, of which {} completed", rows, tasks, completed)};
}

}  // namespace holdfast::test
