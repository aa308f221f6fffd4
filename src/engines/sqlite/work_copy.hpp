#pragma once

#include <string>

#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// A copy of a damaged database, with its log worked in, to try things on. Gone at the end.
class WorkCopy {
 public:
  WorkCopy(const DatabaseFile& original, const std::string& path, const SideFiles& files);
  ~WorkCopy();
  WorkCopy(const WorkCopy&) = delete;
  WorkCopy& operator=(const WorkCopy&) = delete;

  const std::string& path() const { return path_; }

  /// Puts right what can only be one thing in the file's header: SQLite refuses the whole file for
  /// one wrong bit there. False if nothing was wrong.
  bool correct_header() const;
  /// Copies again, after something was tried that did not help.
  void make_anew() const;
  void become(const std::string& other) const;

 private:
  const DatabaseFile& original_;
  std::string original_path_;
  std::string path_;
};

/// Makes one file of a database that nobody has open any more, and makes sure that it is on disk.
void finish_database(const std::string& path);
/// Removes the empty log that looking at a finished database leaves beside it.
void remove_side_files(const std::string& path);

}  // namespace holdfast::sqlite
