#pragma once

#include <string>
#include <utility>

#include "recovery/host_files.hpp"

namespace holdfast::sqlite {

/// The folder beside the database file, `FILE.holdfast/`, and what is in it:
///
///     open.lock         held by everybody who has the store open; see open_lock.hpp
///     write.lock        writers queue here
///     wake              touched when new work is there
///     control           touched when an operator acted
///     prune.lock        locked while somebody removes old tasks
///     recoveries        a locked byte for each run of recovery that writes a report
///     workers/<id>      one a worker: locked while it lives; its board of running work
///     attempts/<id>     one a running child process: locked while it or a descendant lives
///     evidence/<time>   copies of the files, made before anything was done about damage
///     suspect           damage was seen while running: the next start-up looks at everything
///     made              there is a store in the database: if it is empty, something has emptied it
///     ballast           room that is given away when the disk is full; see ballast.hpp
///     commits           the last commit that was made; see commit_mark.hpp
///     mail              touched when new messages are there
///     messages/<id>     bodies of large messages
///     consumers/<id>    one for whoever takes messages: locked while it lives
///     lost              commits were lost: nothing is written until an operator accepts that
///     replace           a database is about to be replaced; see replace_file.hpp
///     fresh.db          what it is to be replaced with
///     repair.db         a copy of the database that is being repaired
///     output            results of batches, where no other place is named
///     server            what `holdfast serve` keeps: token, audit log
class SideFiles : public HostFiles {
 public:
  /// Creates the folders that are missing, and checks those that are there; see `HostFiles`. Root
  /// makes them for the owner of the database.
  explicit SideFiles(const std::string& database_path, FilesFor whom = FilesFor::owner);
  /// The same names, and creates nothing.
  static SideFiles named(const std::string& database_path);

  std::string open_lock() const { return folder() + "/open.lock"; }
  std::string write_lock() const { return folder() + "/write.lock"; }
  std::string wake() const { return folder() + "/wake"; }
  std::string control() const { return folder() + "/control"; }
  std::string prune_lock() const { return folder() + "/prune.lock"; }
  std::string recoveries() const { return folder() + "/recoveries"; }
  std::string evidence() const { return folder() + "/evidence"; }
  std::string suspect() const { return folder() + "/suspect"; }
  std::string made() const { return folder() + "/made"; }
  std::string ballast() const { return folder() + "/ballast"; }
  std::string commits() const { return folder() + "/commits"; }
  std::string mail() const { return folder() + "/mail"; }
  std::string messages() const { return folder() + "/messages"; }
  std::string consumers() const { return folder() + "/consumers"; }
  std::string lost() const { return folder() + "/lost"; }

 private:
  explicit SideFiles(HostFiles files) : HostFiles{std::move(files)} {}
};

}  // namespace holdfast::sqlite
