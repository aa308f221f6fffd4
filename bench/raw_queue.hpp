#pragma once

#include <string>
#include <vector>

#include <holdfast/settings.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace holdfast::bench {

/// The least that can be called a queue, straight on SQLite: one table, one index for claims, no
/// leases, no tokens, no retries, one process. With the pragmas of our own engine. It is what
/// everything is compared with.
class RawQueue {
 public:
  RawQueue(const std::string& file, Durability durability);
  ~RawQueue();
  RawQueue(const RawQueue&) = delete;
  RawQueue& operator=(const RawQueue&) = delete;

  void insert(const std::string& payload, int rows);  ///< in one transaction

  enum class Finish { mark, erase };
  /// Claims and finishes everything there is, `batch` rows at a time; the end of one batch and the
  /// claim of the next share a transaction. Returns how many rows.
  int drain(int batch, Finish finish);

 private:
  struct Row {
    long long id = 0;
    std::string payload;
  };
  void execute(const char* sql);
  sqlite3_stmt* prepare(const char* sql);
  void run(sqlite3_stmt* statement);
  std::vector<Row> claim(int batch);

  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* claim_ = nullptr;
  sqlite3_stmt* mark_ = nullptr;
  sqlite3_stmt* erase_ = nullptr;
};

}  // namespace holdfast::bench
