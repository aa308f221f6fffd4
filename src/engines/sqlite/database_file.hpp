#pragma once

#include <optional>
#include <string>

#include "engines/sqlite/file_lock.hpp"
#include "engines/sqlite/wal_scan.hpp"

namespace holdfast::sqlite {

/// A file, read as bytes.
struct ByteFile {
  FileDescriptor file{};
  std::uint64_t size = 0;

  /// Nothing if it is not there.
  static std::optional<ByteFile> open(const std::string& path, int flags);
  /// Throws `StoreError` if the disk cannot read it. Valid as long as this is.
  ReadAt reader() const;
};

/// For a file that SQLite may have locks on: closing would give them back.
void keep_open_for_ever(FileDescriptor file);

/// The database file as bytes, while nobody has it open as a database: SQLite's own locks keep
/// everybody out, programs that know nothing of ours too.
///
/// Closing any descriptor of a file gives back all locks that SQLite has on it in this process. So
/// this must be closed only while nobody has any, and where somebody does, it never is.
class DatabaseFile {
 public:
  enum class Found {
    absent,
    taken,
    in_use,  ///< somebody has the database open: it cannot be read as bytes
  };
  explicit DatabaseFile(const std::string& path);

  Found found() const { return found_; }
  const ByteFile& bytes() const { return *bytes_; }

  struct Header {
    bool is_database = false;
    bool wal_mode = false;
  };
  Header header() const;

 private:
  Found found_ = Found::absent;
  std::optional<ByteFile> bytes_;
};

}  // namespace holdfast::sqlite
