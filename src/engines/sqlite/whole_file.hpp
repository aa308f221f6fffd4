#pragma once

#include <string>
#include <string_view>

#include "engines/sqlite/file_lock.hpp"

namespace holdfast::sqlite {

/// A file that is written from beginning to end (mode 0600), in place of what was there before.
class WholeFile {
 public:
  explicit WholeFile(const std::string& path);
  void append(std::string_view bytes);  ///< throws `StoreFull` where there is no room
  void sync();

 private:
  std::string path_;
  FileDescriptor file_;
};

/// Copies a file that SQLite has no locks on: a log, a backup. Nothing if it is not there.
void copy_file(const std::string& from, const std::string& to);

/// Makes sure that what a file contains is on disk.
void sync_file(const std::string& path);
/// The same for the names in the folder of `path`: after creating, renaming or removing it.
void sync_folder_of(const std::string& path);

/// Renames; throws `StoreError`. `false`: there is no such file.
bool move_file(const std::string& from, const std::string& to);
/// Removes a database with its log, if they are there.
void remove_database(const std::string& path);

}  // namespace holdfast::sqlite
