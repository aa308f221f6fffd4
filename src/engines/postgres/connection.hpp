#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engines/postgres/address.hpp"
#include "engines/postgres/counts.hpp"
#include "engines/postgres/errors.hpp"
#include "engines/postgres/result.hpp"
#include "engines/postgres/values.hpp"
#include "recovery/clock.hpp"

struct pg_conn;

namespace holdfast::postgres {

/// How statements are written for one store. In their text
///
///     hf.          is the schema
///     alya.        is the schema with the tables of batches
///     {wall}       is now in milliseconds since 1970, on the server's clock
///     {steady}     is the same clock, for leases
///     {micros}     is now in microseconds, from which tokens are made
///
/// and states as state_numbers.hpp says. Each time is read once a statement, and so that an index
/// can be used. A test that brings a clock of its own has it in settings of its sessions, which no
/// statement of anybody else looks at.
class Dialect {
 public:
  Dialect(const Address& address, const Clock& clock);

  std::string expand(std::string_view sql) const;
  /// The clock of a test; null: the server's.
  const Clock* manual_clock() const { return manual_; }
  const Address& address() const { return address_; }

 private:
  Address address_;
  const Clock* manual_;
};

/// A connection, always in pipeline mode: statements that are queued go to the server together
/// with the next one that is run. One thread at a time.
///
/// Names in statements mean what PostgreSQL itself defines, and tables are written with their
/// schemas: `search_path` is pinned, so functions and operators that other roles create are never
/// called. A borrowed connection keeps the path that it has; see `PinnedPath`.
///
///     db.queue("BEGIN");
///     auto rows = db.run("SELECT state FROM hf.tasks WHERE id = $1", id);
class Connection {
 public:
  enum class Purpose {
    steps,    ///< the steps of the store, each of which has its index
    looking,  ///< questions of people, which the planner knows best how to answer
  };
  Connection(std::shared_ptr<const Dialect> dialect, Durability durability, Purpose purpose);
  /// Borrows a connection that the caller brought; leaves it open and as it was.
  Connection(std::shared_ptr<const Dialect> dialect, pg_conn* borrowed);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// The text must be a constant: it is known again by where it is.
  template <class... Args>
  void queue(const char* sql, const Args&... args) {
    std::vector<Value> values;
    values.reserve(sizeof...(args));
    (values.push_back(to_value(args)), ...);
    enqueue(sql, values);
  }
  /// The results of all that was queued, in order. Throws the error of the first that failed; those
  /// after it were not run.
  std::vector<Rows> collect();

  /// Sends what is queued and this; returns the result of this.
  template <class... Args>
  Rows run(const char* sql, const Args&... args) {
    queue(sql, args...);
    return std::move(collect().back());
  }
  /// The same for text that is built at run time.
  Rows run_once(const std::string& sql, const std::vector<Value>& values = {});
  /// Several statements at once, without parameters, each on its own.
  void execute(const std::string& sql);

  /// To be called first in each transaction, and before statements outside of one.
  void tell_time();

  /// Whether the server ends statements that run for longer than 30 seconds. What the role, the
  /// database or the address says about `statement_timeout` wins.
  void limit_time(bool limited) { limited_ = limited; }

  bool is_broken() const;
  /// Behind a pooler a session is not ours alone: no locks that last, nothing prepared.
  bool is_pooled() const { return pooled_; }
  /// Names the run of the server that we are connected to: another after every restart, and after
  /// a failover to another machine.
  const std::string& server_run();
  int socket() const;
  /// Says so if what is sent leaves the machine without encryption; else empty.
  std::string clear_text() const;
  /// Takes in what the server sent without being asked; false: the connection is gone.
  bool take_in();
  std::vector<std::string> notifications();  ///< their texts
  pg_conn* handle() const { return connection_; }
  /// What the transaction at hand changes, and whoever commits it writes.
  CountChanges& counts() { return counts_; }

 private:
  struct Sent {
    const char* prepares = nullptr;  ///< the result is of no interest, it only prepared this
    bool ours = false;               ///< nor is this one's: it only set something
  };
  void set_for_transaction(std::string_view next);
  void enqueue(const char* sql, const std::vector<Value>& values);
  void send(const char* name, const std::string* text, const std::vector<Value>& values);
  void set_up(Durability durability, Purpose purpose);
  [[noreturn]] void fail();
  Rows take_result(bool& failed);

  std::shared_ptr<const Dialect> dialect_;
  pg_conn* connection_ = nullptr;
  bool owned_ = true;
  bool pooled_ = false;
  bool limited_ = false;
  bool is_set_ = false;  ///< what holds for one transaction was set in this one
  std::vector<Sent> sent_;
  std::unordered_map<const char*, std::string> prepared_;
  std::unordered_map<const char*, std::string> expanded_;
  int names_ = 0;
  std::string server_run_;
  CountChanges counts_;
  pg_result* error_ = nullptr;
};

/// Limits the time of statements as long as it lives.
class TimeLimit {
 public:
  explicit TimeLimit(Connection& db) : db_{db} { db_.limit_time(true); }
  ~TimeLimit() { db_.limit_time(false); }
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  Connection& db_;
};

/// `search_path` of a borrowed connection within its transaction. Rolling back to a savepoint from
/// before it restores the path, too.
class PinnedPath {
 public:
  explicit PinnedPath(Connection& db);
  /// Queues what restores it. Not done by a destructor: after an error nothing can be run.
  void queue_restore(Connection& db) const;

 private:
  std::string before_;
};

}  // namespace holdfast::postgres
