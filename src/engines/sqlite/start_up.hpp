#pragma once

#include <memory>
#include <optional>
#include <string>

#include <holdfast/engine.hpp>
#include <holdfast/report.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/open_lock.hpp"
#include "engines/sqlite/side_files.hpp"
#include "recovery/clock.hpp"

namespace holdfast::sqlite {

struct OpenOptions {
  Stay stay = Stay::lasting;
  FilesFor files_for = FilesFor::owner;  ///< whoever else uses the store must say the same
  bool accept_loss = false;              ///< go on without commits that cannot be read any more
  /// Gets a copy of what was found, also if the store is then handed to nobody who recovers.
  std::optional<StartUp>* found = nullptr;
};

/// A store that is open, and what was found on the way.
struct Opened {
  SideFiles files;
  std::unique_ptr<OpenLock> lock{};          ///< absent where we may not even lock
  std::unique_ptr<Connection> connection{};  ///< absent: nothing may be written
  RunLevel level = RunLevel::normal;
  std::string reason{};  ///< why it is read-only

  std::optional<StartUp> start_up{};  ///< of the process that opened it first
  std::optional<StartUp> trouble{};   ///< what is known of why it is read-only
  bool worth_reporting = false;       ///< at once: more was found than that somebody had died
  /// Nobody has closed the store properly the last time, and we did not look what that did to it:
  /// somebody who does must still see it.
  bool keep_mark = false;
  /// The tables are to be taken from this version to ours, before anybody else gets in; there is a
  /// backup.
  std::optional<int> upgrade_from{};
};

/// Opens the database. Who is the first to do so makes it ready before anybody else gets in: looks
/// whether it was closed properly, reads the log before SQLite does, copies the evidence before
/// anything is changed, mends what can be mended, checks, repairs. Killed on the way, the next one
/// does it again.
///
/// Throws `StoreUnusable` where a person must decide.
Opened open_database(const std::string& path, const Settings& settings, const Clock& clock,
                     const OpenOptions& options = {});

/// How long a command waits for a lock before it says who has it.
Patience patience_of(Stay stay);

}  // namespace holdfast::sqlite
