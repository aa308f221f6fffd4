#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// A worker of the services that we share the tables of batches with, as far as the database sees
/// one: the same steps in the same transactions.
class OriginalWorker {
 public:
  /// `connection` in the words of libpq; `schema` is where its tables are.
  OriginalWorker(const std::string& connection, const std::string& schema);

  struct Row {
    std::string id;
    std::string batch;
    int line = 0;
  };

  void make_tables();
  std::string submit(const std::string& app, const std::string& op, int rows);
  std::vector<Row> fetch(int limit);
  /// Writes a result as it does: without a look at what is there.
  void succeed(const Row& row);
  /// False: it is not complete, somebody else is at it, or it was summed up before.
  bool sum_up(const std::string& batch);
  /// What its recovery does about rows of a worker that it takes for dead.
  void queue_again(const std::string& row);

  void begin() { run("BEGIN"); }
  void commit() { run("COMMIT"); }
  bool lock(const std::string& batch);
  std::string value(const std::string& sql, const std::vector<std::string>& values = {});

 private:
  using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;
  Result run(const std::string& sql, const std::vector<std::string>& values = {});

  std::unique_ptr<PGconn, void (*)(PGconn*)> db_;
};

}  // namespace holdfast::test
