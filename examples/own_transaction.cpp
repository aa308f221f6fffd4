// A program with tables of its own enqueues in its own transaction: either the customer is stored
// and will be welcomed, or neither happened. The handler completes its task in one, too: nobody is
// written to twice.

#include <sqlite3.h>
#include <holdfast/holdfast.hpp>
#include <holdfast/sqlite.hpp>
#include <iostream>
#include <stdexcept>

struct Welcome {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(Welcome, (), (name))

void execute(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error{sqlite3_errmsg(db)};
}

void insert_name(sqlite3* db, const char* sql, const std::string& name) {
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, sql, -1, &insert, nullptr);
  sqlite3_bind_text(insert, 1, name.c_str(), -1, SQLITE_TRANSIENT);
  int code = sqlite3_step(insert);
  sqlite3_finalize(insert);
  if (code != SQLITE_DONE) throw std::runtime_error{sqlite3_errmsg(db)};
}

void store_customer(sqlite3* db, const std::string& name) {
  insert_name(db, "INSERT INTO customers VALUES (?)", name);
}

void write_letter(sqlite3* db, const std::string& name) {
  insert_name(db, "INSERT INTO letters VALUES (?)", name);
}

void sign_up(const holdfast::Engine& engine, sqlite3* db, const std::string& name) {
  execute(db, "BEGIN IMMEDIATE");
  try {
    holdfast::sqlite::enqueue(engine, db, "welcome", Welcome{.name = name});
    store_customer(db, name);
    execute(db, "COMMIT");
    std::cout << name << " signed up" << std::endl;
  } catch (const std::exception& error) {
    execute(db, "ROLLBACK");
    std::cout << name << " did not: " << error.what() << std::endl;
  }
}

holdfast::Outcome welcome(const holdfast::Engine& engine, sqlite3* db, const Welcome& welcome,
                          holdfast::Attempt& attempt) {
  execute(db, "BEGIN IMMEDIATE");
  try {
    write_letter(db, welcome.name);
    holdfast::sqlite::complete(engine, db, attempt);
    execute(db, "COMMIT");
  } catch (const std::exception&) {
    execute(db, "ROLLBACK");
    throw;
  }
  std::cout << "welcome, " << welcome.name << std::endl;
  return holdfast::done;
}

int main() {
  auto engine = holdfast::open("sqlite:customers.db");
  sqlite3* db = nullptr;
  if (sqlite3_open("customers.db", &db) != SQLITE_OK) return 1;
  sqlite3_busy_timeout(db, 5'000);  // workers write to the same file
  execute(db, "CREATE TABLE IF NOT EXISTS customers (name TEXT PRIMARY KEY)");
  execute(db, "CREATE TABLE IF NOT EXISTS letters (name TEXT)");

  sign_up(engine, db, "Ada");
  sign_up(engine, db, "Grace");
  sign_up(engine, db, "Ada");  // refused by the primary key, so nobody is welcomed twice

  holdfast::Tasks tasks{engine};
  tasks.on<Welcome>("welcome", [&](const Welcome& to, holdfast::Attempt& attempt) {
    return welcome(engine, db, to, attempt);
  });
  // One handler at a time: they share the connection.
  holdfast::run(tasks, {.concurrency = 1, .until_empty = true});
  sqlite3_close(db);
}
