#include "engines/sqlite/checkpoint.hpp"

#include <poll.h>
#include <sqlite3.h>

namespace holdfast::sqlite {

namespace {

using Steady = std::chrono::steady_clock;

constexpr int between_looks_ms = 5;

/// SQLite copies beside a writer when it could not keep that out, and this version can lose pages
/// when a log is started anew while it is copied. But it looks whether it was interrupted before it
/// copies a page, so whoever gives up waiting interrupts it.
struct Wait {
  sqlite3* db;
  Steady::time_point end;

  static int go_on(void* wait, int) {
    auto& self = *static_cast<Wait*>(wait);
    if (Steady::now() < self.end) {
      ::poll(nullptr, 0, between_looks_ms);
      return 1;
    }
    sqlite3_interrupt(self.db);
    return 0;
  }
};

}  // namespace

int checkpoint_and_truncate(sqlite3* db, std::chrono::milliseconds patience) {
  Wait wait{db, Steady::now() + patience};
  sqlite3_busy_handler(db, &Wait::go_on, &wait);
  int code = sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_handler(db, nullptr, nullptr);
  return code == SQLITE_INTERRUPT ? SQLITE_BUSY : code;
}

}  // namespace holdfast::sqlite
