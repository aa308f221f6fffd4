#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/holdfast.hpp>

#include "support/journal.hpp"

namespace holdfast::test {

/// A connection of the driver's own to the database that has the store, as a user's program has
/// one.
class OwnConnection {
 public:
  virtual ~OwnConnection() = default;
  virtual void execute(const std::string& sql) = 0;
  virtual std::int64_t number(const std::string& sql) = 0;
  virtual void complete(const Attempt& attempt, const std::string& result) = 0;
};

/// A table of the driver's own beside the tables of the store, into which the handler of `own`
/// writes a row in the transaction that completes its task.
class OwnTables {
 public:
  OwnTables(const Engine& engine, const std::string& address);
  void add_handler(Tasks& tasks, const Journal& journal);
  /// Throws unless each task that completed, and no other, left a row.
  void expect_one_row_for_each_task();

 private:
  Outcome handle(const Attempt& attempt, const Journal& journal);

  Engine engine_;
  std::string table_;
  std::function<std::unique_ptr<OwnConnection>()> connect_;
};

}  // namespace holdfast::test
