#pragma once

#include <string>
#include <vector>

#include <holdfast/report.hpp>

#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/side_files.hpp"
#include "engines/sqlite/wal_mend.hpp"
#include "engines/sqlite/wal_verdict.hpp"

namespace holdfast::sqlite {

/// The log of a database before any of us works with it.
class WalCheck {
 public:
  struct Circumstances {
    bool rebooted = true;
    Durability durability = Durability::power_safe;
    bool accept_loss = false;
    WallTime now{};
  };
  /// With the bytes of the database nobody has it open, and SQLite has not seen the log yet.
  /// Without them other programs have it open: then the caller keeps them from writing, and the log
  /// is only looked at.
  WalCheck(const std::string& path, const SideFiles& files, const DatabaseFile* database,
           Circumstances circumstances);

  /// Does what must be done about it, after copying the evidence, and notes it in `start_up`.
  /// Afterwards SQLite may open the database, for reading only if that is what `start_up.level`
  /// says. Throws `StoreUnusable` if not even that.
  void carry_out(StartUp& start_up);

  /// Something was wrong that the log alone does not tell everything about.
  bool suspicious() const { return suspicious_; }
  /// Commits behind a gap are lost for the first time: what they did can still be read.
  bool newly_lost() const { return newly_lost_; }

 private:
  void look();
  WalCircumstances what_is_known() const;
  bool in_use() const { return !database_; }
  void note_findings(StartUp& start_up) const;
  void secure_evidence(StartUp& start_up, const std::string& why);
  void turn_back_flips(StartUp& start_up);
  void drop_log();
  /// True: commits of this file were lost before.
  bool heed_note(StartUp& start_up) const;
  void lose(StartUp& start_up);
  void name_lost_tasks(StartUp& start_up) const;
  std::string refusal() const;

  std::string path_;
  const SideFiles& files_;
  const DatabaseFile* database_;
  Circumstances circumstances_;
  std::optional<ByteFile> log_;
  WalScan scan_{};
  std::vector<Flip> flips_{};
  WalVerdict verdict_{};
  bool suspicious_ = false;
  bool newly_lost_ = false;
};

/// What is lost of a log that we may only read; empty: nothing. Nobody keeps others from writing
/// meanwhile, so what is seen must be there twice.
std::string loss_in_log(const std::string& path, Durability durability);

}  // namespace holdfast::sqlite
