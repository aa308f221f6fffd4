#include "engines/sqlite/wal_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "engines/sqlite/commit_mark.hpp"
#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/evidence.hpp"
#include "engines/sqlite/loss_note.hpp"
#include "engines/sqlite/lost_tasks.hpp"
#include "engines/sqlite/wal_backfill.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::sqlite {

namespace {

using WalKind = WalVerdict::Kind;

constexpr const char* way_out =
    "Look at it with 'holdfast doctor'; restore a backup, or go on without what is lost with "
    "'holdfast doctor --accept-loss'";

[[noreturn]] void throw_change_error(const std::string& path) {
  throw StoreError{fmt::format("cannot change {}: {}", path, std::strerror(errno))};
}

void sync(const FileDescriptor& file, const std::string& path) {
  if (::fsync(file.get()) != 0) throw_change_error(path);
}

std::optional<WalIndex> read_index(const std::string& path, bool in_use) {
  auto file = ByteFile::open(path, O_RDONLY);
  if (!file) return {};
  std::uint8_t bytes[WalIndex::bytes] = {};
  auto got = file->reader()(0, bytes);
  if (in_use) keep_open_for_ever(std::move(file->file));
  return WalIndex::parse(std::span{bytes}.first(got));
}

/// What a note of losses is about.
std::string name_of_file(const std::string& path) {
  auto file = FileStamp::of(path);
  return fmt::format("file {}", file ? file->inode : 0);
}

}  // namespace

WalCheck::WalCheck(const std::string& path, const SideFiles& files, const DatabaseFile* database,
                   Circumstances circumstances)
    : path_{path},
      files_{files},
      database_{database},
      circumstances_{circumstances},
      log_{ByteFile::open(path + "-wal", database ? O_RDWR : O_RDONLY)} {
  look();
}

WalCircumstances WalCheck::what_is_known() const {
  WalCircumstances known{.index = read_index(path_ + "-shm", in_use()),
                         .rebooted = circumstances_.rebooted,
                         .durability = circumstances_.durability};
  auto mark = CommitMark::read(files_);
  auto now = FileStamp::of(path_);
  if (mark && now && mark->database.same_file(*now)) {
    known.noted = WalIndex{mark->salt, mark->frames, mark->backfilled};
    known.database_untouched = mark->telling && mark->database == *now;
  }
  // The first program to open a database makes the shared memory anew, of what it can read.
  bool noted_this = known.noted && known.noted->salt == scan_.header.salt;
  if (in_use() && !noted_this) known.index.reset();
  return known;
}

void WalCheck::look() {
  if (log_) scan_ = scan_wal(log_->reader(), log_->size);
  auto known = what_is_known();
  verdict_ = judge_wal(scan_, known);
  if (in_use()) return;
  WalSource source{log_ ? log_->reader() : ReadAt{}, database_->bytes().reader()};
  if (log_) flips_ = find_flips(source, scan_);
  if (!flips_.empty()) verdict_ = judge_wal(scan_, known);
  bool headless = log_ && scan_.beginning == WalScan::Beginning::damaged && verdict_.is_loss();
  if (headless && all_in_database(source.log, log_->size, source.database))
    verdict_ = {WalKind::superfluous, verdict_.what + "; everything in it is in the database", 0};
  if (database_->bytes().size == 0 && scan_.frames > 0)
    verdict_ = {WalKind::unusable, "the database is empty, but its write-ahead log is not", 1};
}

void WalCheck::carry_out(StartUp& start_up) {
  note_findings(start_up);
  if (!flips_.empty()) turn_back_flips(start_up);
  switch (verdict_.kind) {
    case WalKind::sound:
    case WalKind::torn:
      break;
    case WalKind::doubtful:
      suspicious_ = true;
      secure_evidence(start_up, verdict_.what);
      start_up.losses.push_back({Damage::Kind::wal, verdict_.what});
      break;
    case WalKind::superfluous:
      if (in_use()) break;
      suspicious_ = true;
      secure_evidence(start_up, verdict_.what);
      drop_log();
      start_up.repair = "mended";
      break;
    case WalKind::damaged:
      // What is found again is what was found before.
      if (!circumstances_.accept_loss && heed_note(start_up)) return;
      [[fallthrough]];
    case WalKind::unusable:
      lose(start_up);
      return;
  }
  heed_note(start_up);
}

bool WalCheck::heed_note(StartUp& start_up) const {
  auto note = LossNote::read(files_);
  if (!note) return false;
  if (note->about != name_of_file(path_)) {
    LossNote::forget(files_);
    return false;
  }
  start_up.losses = note->losses;
  if (circumstances_.accept_loss) return true;
  start_up.level = RunLevel::read_only;
  start_up.reason = note->reason;
  return true;
}

void WalCheck::note_findings(StartUp& start_up) const {
  start_up.wal_bytes = static_cast<std::int64_t>(scan_.bytes);
  start_up.wal_frames = scan_.frames;
  StartUp::RecoveryPoint point{.wal_frame = scan_.frames};
  struct stat info {};
  int known =
      log_ && log_->size > 0 ? ::fstat(log_->file.get(), &info) : ::stat(path_.c_str(), &info);
  if (known == 0) {
    auto since =
        std::chrono::seconds{info.st_mtim.tv_sec} + std::chrono::nanoseconds{info.st_mtim.tv_nsec};
    point.at = WallTime{std::chrono::duration_cast<Millis>(since)};
  }
  start_up.recovery_point = point;
}

void WalCheck::secure_evidence(StartUp& start_up, const std::string& why) {
  kill_point(KillPoint::evidence_before_copy);
  start_up.evidence = copy_evidence(path_, files_, circumstances_.now, why,
                                    in_use() ? Evidence::log : Evidence::everything);
  kill_point(KillPoint::evidence_after_copy);
}

void WalCheck::turn_back_flips(StartUp& start_up) {
  suspicious_ = true;
  auto what = fmt::format("{} flipped bits in the write-ahead log", flips_.size());
  secure_evidence(start_up, what);
  auto read = log_->reader();
  for (const auto& flip : flips_) {
    std::uint8_t byte = 0;
    read(flip.offset, {&byte, 1});
    byte ^= flip.mask;
    if (::pwrite(log_->file.get(), &byte, 1, static_cast<off_t>(flip.offset)) != 1)
      throw_change_error(path_ + "-wal");
    kill_point(KillPoint::mend_within);
  }
  sync(log_->file, path_ + "-wal");
  start_up.repair = "mended";
}

/// The log first: without it the shared memory still says that something is missing.
void WalCheck::drop_log() {
  if (log_ && ::ftruncate(log_->file.get(), 0) != 0) throw_change_error(path_ + "-wal");
  if (log_) sync(log_->file, path_ + "-wal");
  kill_point(KillPoint::mend_within);
  if (::unlink((path_ + "-shm").c_str()) != 0 && errno != ENOENT)
    throw_change_error(path_ + "-shm");
}

std::string WalCheck::refusal() const {
  return fmt::format("{}: {}. {}", path_, verdict_.what, way_out);
}

/// Where the log cannot be used, the database alone is what is left.
void WalCheck::name_lost_tasks(StartUp& start_up) const {
  std::vector<Damage> lost;
  try {
    Connection left{path_, Connection::Mode::immutable, circumstances_.durability};
    lost = lost_tasks(path_, &left);
  } catch (const StoreError&) {
    lost = lost_tasks(path_, nullptr);  // and that is no store
  }
  for (auto& loss : lost) start_up.losses.push_back(std::move(loss));
}

void WalCheck::lose(StartUp& start_up) {
  suspicious_ = true;
  secure_evidence(start_up, verdict_.what);
  start_up.losses.push_back({Damage::Kind::wal, verdict_.what});
  newly_lost_ = verdict_.kind == WalKind::damaged;
  bool unusable = verdict_.kind == WalKind::unusable;
  if (unusable) name_lost_tasks(start_up);
  if (circumstances_.accept_loss) {
    if (unusable && !in_use()) drop_log();
    return;
  }
  if (unusable) throw StoreUnusable{refusal()};
  start_up.level = RunLevel::read_only;
  start_up.reason = refusal();
  // SQLite forgets that there was more as soon as it reads what is left, so it is noted.
  LossNote{name_of_file(path_), start_up.reason, start_up.losses}.write(files_);
  CommitMark::forget(files_);
}

std::string loss_in_log(const std::string& path, Durability durability) {
  auto log = ByteFile::open(path + "-wal", O_RDONLY);
  if (!log) return {};
  auto look = [&] { return scan_wal(log->reader(), log->size); };
  auto scan = look();
  auto verdict = judge_wal(scan, {.durability = durability});
  if (!verdict.is_loss()) return {};
  auto again = look();
  bool same = again.header.salt == scan.header.salt && again.frames == scan.frames;
  return same ? verdict.what : std::string{};
}

}  // namespace holdfast::sqlite
