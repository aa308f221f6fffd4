#include "engines/sqlite/lone_file.hpp"

#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/whole_file.hpp"

namespace holdfast::sqlite {

namespace {

constexpr int large = 1 << 20;
constexpr int small = 4096;

}  // namespace

LoneFile::LoneFile(const std::string& path) : path_{path} {
  int code =
      sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, nullptr);
  try {
    if (code != SQLITE_OK) throw_sqlite_error(db_, code, "opening it");
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    code = sqlite3_file_control(db_, "main", SQLITE_FCNTL_FILE_POINTER, &file_);
    if (code != SQLITE_OK) throw_sqlite_error(db_, code, "opening it");
    take_lock();
  } catch (const Error&) {
    sqlite3_close_v2(db_);
    throw;
  }
}

void LoneFile::take_lock() {
  int code = file_->pMethods->xLock(file_, SQLITE_LOCK_SHARED);
  // A connection in WAL mode keeps a shared lock as long as it is open.
  if (code == SQLITE_OK) code = file_->pMethods->xLock(file_, SQLITE_LOCK_EXCLUSIVE);
  if (code == SQLITE_OK) return;
  if ((code & 0xff) != SQLITE_BUSY) throw_sqlite_error(db_, code, "locking it");
  throw StoreError{fmt::format(
      "{} cannot be replaced while another program has it open; close that program and try again",
      path_)};
}

LoneFile::~LoneFile() { sqlite3_close_v2(db_); }

long long LoneFile::copy_to(const std::string& path) const {
  sqlite3_int64 size = 0;
  int code = file_->pMethods->xFileSize(file_, &size);
  if (code != SQLITE_OK) throw_sqlite_error(db_, code, "asking for its size");
  WholeFile copy{path};
  std::vector<char> bytes(large);
  long long unreadable = 0;
  auto read = [&](sqlite3_int64 at, int count) {
    return file_->pMethods->xRead(file_, bytes.data(), count, at) == SQLITE_OK;
  };
  for (sqlite3_int64 at = 0; at < size;) {
    auto count = static_cast<int>(std::min<sqlite3_int64>(large, size - at));
    if (!read(at, count)) {
      count = std::min(count, small);
      if (!read(at, count)) {
        std::fill_n(bytes.begin(), count, '\0');
        unreadable += count;
      }
    }
    copy.append({bytes.data(), static_cast<std::size_t>(count)});
    at += count;
  }
  return unreadable;
}

}  // namespace holdfast::sqlite
