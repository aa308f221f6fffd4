#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engines/sqlite/side_files.hpp"
#include "engines/sqlite/wal_scan.hpp"
#include "recovery/file_lock.hpp"

namespace holdfast::sqlite {

/// A file as it is now: another, or written since, and it has another stamp.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;

  /// Nothing if it is not there.
  static std::optional<FileStamp> of(const std::string& path);
  bool same_file(const FileStamp& other) const {
    return device == other.device && inode == other.inode;
  }
  bool operator==(const FileStamp&) const = default;
};

/// The last commit that one of us made, as noted beside the database. Everything else that knows of
/// a commit is in the log and in the shared memory, and who removes both leaves a database that
/// looks as if nothing had ever followed.
struct CommitMark {
  WalSalt salt{};
  int frames = 0;        ///< the log had at least so many
  int backfilled = 0;    ///< and so many of them are in the database
  FileStamp database{};  ///< before the commit
  /// Whoever wrote to the database after that would have changed the stamp. (Right after a write
  /// another one may leave the same time.)
  bool telling = false;

  static std::optional<CommitMark> read(const SideFiles& files);
  /// There is no commit that could be missed. Only while nobody has the store open.
  static void forget(const SideFiles& files);
};

/// Notes the commits of one connection. Not synced: that would cost as much as a commit, and what a
/// process noted outlives it anyway. Failing to note is no error; then less is known.
class CommitNotes {
 public:
  CommitNotes(const SideFiles& files, std::string database);

  /// To be called in the transaction: a stamp taken later might be of a checkpoint that already has
  /// the commit.
  void before_commit();
  /// `frames` of the log were there when the commit was written.
  void committed(int frames);
  /// So many frames of the log that the last commit went to are in the database.
  void copied(int frames);

 private:
  bool open_log();
  void write() const;

  FileDescriptor file_;
  std::string database_;
  FileDescriptor log_{};  // SQLite has no locks on it that closing would give back
  std::uint32_t page_size_ = 0;
  std::optional<FileStamp> before_{};
  bool telling_ = false;
  CommitMark mark_{};
};

}  // namespace holdfast::sqlite
