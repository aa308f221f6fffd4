#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/integrity.hpp>
#include <holdfast/report.hpp>
#include <holdfast/settings.hpp>

namespace holdfast {

/// A process, as far as can be seen from here.
struct ProcessSighting {
  int pid = 0;
  std::string command{};
  bool stopped = false;  ///< by SIGSTOP or a debugger: it does nothing until it is continued
};

/// A file or folder that was kept for people to look at.
struct KeptFile {
  std::string path{};
  std::int64_t bytes = 0;
};

/// How a store is, for a person who wants to know what is wrong with it.
struct Diagnosis {
  std::string store{};
  RunLevel level = RunLevel::normal;
  std::string reason{};  ///< why the level is not normal

  std::optional<IntegrityResult> integrity{};  ///< nothing: the store could not be looked into
  std::optional<StartUp> start_up{};  ///< what was found, if nobody else had the store open

  /// False: it is on a server, which looks after its files itself; nothing is known of them here
  /// but the size of the database.
  bool in_file = true;
  std::string journal_mode{};
  std::int64_t database_bytes = 0;
  std::int64_t wal_bytes = 0;
  int wal_frames = 0;  ///< with commits in them
  std::vector<KeptFile> evidence{};
  std::vector<KeptFile> kept_aside{};       ///< damaged files that repaired ones took the place of
  std::vector<KeptFile> upgrade_backups{};  ///< made before the tables were upgraded

  std::int64_t disk_free = 0;
  std::int64_t disk_reserve = 0;  ///< below this new work is refused
  std::string file_system{};      ///< named only if it is one that stores should not be on

  std::vector<ProcessSighting> open_by{};  ///< other processes of ours that have it open
  std::vector<ProcessSighting> foreign{};  ///< programs that have the file open without us
  /// Who was writing all the time that we looked.
  std::optional<ProcessSighting> writing{};

  std::vector<std::string> advice{};  ///< what to do, most important first
  bool healthy() const { return level == RunLevel::normal && advice.empty(); }
};

struct DiagnosisOptions {
  bool full = false;         ///< look at every page and index, however long that takes
  bool accept_loss = false;  ///< go on without the commits that cannot be read any more
};

/// Looks at a store without waiting for anybody. Where nobody has the store open this is a start-up
/// like any other: what can be mended is mended.
Diagnosis diagnose(std::string_view address, const DiagnosisOptions& options = {},
                   Settings settings = {});

/// Whether there is a store at an address, or something that may have been one. False: `open` would
/// begin one there, perhaps because a name is mistyped.
bool holds_store(std::string_view address);

}  // namespace holdfast
