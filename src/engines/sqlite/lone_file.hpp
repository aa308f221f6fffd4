#pragma once

#include <string>

struct sqlite3;
struct sqlite3_file;

namespace holdfast::sqlite {

/// A database file that nobody else has open, as bytes. Goes through SQLite's own file layer: a
/// plain `open` and `close` of the file would drop the locks of every other connection that this
/// process has on it.
class LoneFile {
 public:
  /// Takes SQLite's exclusive lock, until the end of this object. Throws `StoreError` if any other
  /// program, or another part of this one, has the file open.
  explicit LoneFile(const std::string& path);
  ~LoneFile();
  LoneFile(const LoneFile&) = delete;
  LoneFile& operator=(const LoneFile&) = delete;

  /// Copies the file. What the disk does not give back becomes zeros: a bad sector must not keep
  /// us from saving the rest. Returns how many bytes that were.
  long long copy_to(const std::string& path) const;

 private:
  void take_lock();

  std::string path_;
  sqlite3* db_ = nullptr;
  sqlite3_file* file_ = nullptr;
};

}  // namespace holdfast::sqlite
