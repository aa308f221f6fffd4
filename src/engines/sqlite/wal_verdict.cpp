#include "engines/sqlite/wal_verdict.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

namespace holdfast::sqlite {

namespace {

using Kind = WalVerdict::Kind;
using Beginning = WalScan::Beginning;

/// The layout that SQLite documents for the beginning of `FILE-shm`, in the machine's byte order.
struct IndexHeader {
  std::uint32_t version, unused, change;
  std::uint8_t initialised, big_endian_sums;
  std::uint16_t page_size;
  std::uint32_t frames, pages;
  std::uint32_t frame_sum[2];
  std::uint8_t salt[8];  // as in the log
  std::uint32_t sum[2];
};
static_assert(sizeof(IndexHeader) == 48);

bool native_is_big() { return std::endian::native == std::endian::big; }

Kind tail_of(const WalScan& scan) {
  return scan.sound > scan.frames || scan.beyond.frames > 0 ? Kind::torn : Kind::sound;
}

/// What is behind the gap, where nothing else says how far the log once was. A commit is synced
/// before the next one is written, so two whole commits behind a gap mean that the first of them
/// was acknowledged. One may be the torn commit itself, whose pages reached the disk out of order;
/// or what a process that died left there, overwritten up to here.
WalVerdict judge_by_what_follows(const WalScan& scan, const WalCircumstances& known) {
  const auto& beyond = scan.beyond;
  if (beyond.commits == 0) return {tail_of(scan)};
  if (beyond.commits >= 2 && known.durability == Durability::power_safe) {
    return {Kind::damaged,
            fmt::format("frame {} of the write-ahead log is damaged, and {} whole commits lie "
                        "behind it",
                        scan.sound + 1, beyond.commits),
            beyond.commits};
  }
  return {
      Kind::doubtful,
      fmt::format("the write-ahead log ends at frame {}, but a whole commit lies behind it that "
                  "the gap cuts off: it may have been acknowledged",
                  scan.frames),
      beyond.commits};
}

WalVerdict shorter_than_it_was(const WalScan& scan, const WalCircumstances& known) {
  const auto& index = *known.index;
  auto what =
      fmt::format("the write-ahead log had {} frames with commits, and only {} of them can be read",
                  index.frames, scan.frames);
  if (index.backfilled >= index.frames)
    return {Kind::superfluous, what + "; all are in the database"};
  // Without syncs a power cut takes the last moments: that was the bargain.
  if (known.rebooted && known.durability == Durability::crash_safe) return {Kind::doubtful, what};
  // Frames that were copied into the database since are newer there than in what is left.
  auto kind = index.backfilled > scan.frames ? Kind::unusable : Kind::damaged;
  return {kind, what, std::max(1, scan.beyond.commits)};
}

WalVerdict not_the_log_that_it_was(const WalScan& scan, const WalIndex& index) {
  auto what = scan.beginning == Beginning::damaged
                  ? std::string{"the beginning of the write-ahead log is damaged"}
                  : std::string{
                        "the write-ahead log is not the one that was last used with this "
                        "database (it was replaced, perhaps by an older copy)"};
  if (index.backfilled >= index.frames)
    return {Kind::superfluous, what + "; all of the last one is in the database"};
  return {Kind::unusable, what, std::max(1, scan.beyond.commits)};
}

/// Starting the log anew counts its first salt up. What is in the shared memory is never ahead of
/// the log once a commit was synced, so an older log than that is a copy that somebody put back.
bool is_older_than(const WalIndex& index, const WalScan& scan) {
  auto ahead = static_cast<std::int32_t>(index.salt.first - scan.header.salt.first);
  return scan.beginning == Beginning::sound && index.frames > 0 && ahead > 0;
}

WalVerdict judge_by_index(const WalScan& scan, const WalCircumstances& known) {
  const auto& index = known.index;
  bool synced = known.durability == Durability::power_safe;
  if (index && synced && is_older_than(*index, scan)) return not_the_log_that_it_was(scan, *index);
  bool same_log = index && scan.beginning == Beginning::sound && scan.header.salt == index->salt;
  if (same_log && scan.frames < index->frames) return shorter_than_it_was(scan, known);
  if (index && !known.rebooted) {
    // What the living had agreed upon is there. What lies behind it was left by processes that died
    // while they wrote, and was overwritten in part.
    if (same_log || index->frames == 0) return {tail_of(scan)};
    if (scan.beginning == Beginning::empty) return shorter_than_it_was(scan, known);
    return not_the_log_that_it_was(scan, *index);
  }
  if (scan.beginning == Beginning::damaged)
    return {Kind::unusable, "the beginning of the write-ahead log is damaged",
            std::max(1, scan.beyond.commits)};
  return judge_by_what_follows(scan, known);
}

/// Starting the log anew counts its first salt up. Only a log whose frames are all in the database
/// is started anew.
bool follows(const WalScan& scan, const WalIndex& noted) {
  auto ahead = scan.header.salt.first - noted.salt.first;
  return scan.beginning == Beginning::sound && ahead > 0 && ahead < 1'000'000;
}

/// Who removes the log and its shared memory leaves nothing that would be missed, but what we
/// noted.
WalVerdict judge_by_note(const WalScan& scan, const WalCircumstances& known, WalVerdict otherwise) {
  const auto& noted = *known.noted;
  if (scan.beginning == Beginning::sound && scan.header.salt == noted.salt) {
    if (scan.frames >= noted.frames) return otherwise;
    return shorter_than_it_was(scan, {noted, known.rebooted, known.durability});
  }
  bool missing = known.database_untouched && noted.backfilled < noted.frames;
  // After a power cut a file may have an older time than what is in it.
  if (!missing || known.rebooted || follows(scan, noted)) return otherwise;
  if (scan.frames > 0) return not_the_log_that_it_was(scan, noted);
  return {Kind::damaged,
          fmt::format("the write-ahead log is gone, and with it the commits of its last {} frames: "
                      "they are not in the database either",
                      noted.frames - noted.backfilled),
          1};
}

}  // namespace

std::optional<WalIndex> WalIndex::parse(std::span<const std::uint8_t> from) {
  if (from.size() < bytes) return {};
  IndexHeader header{}, copy{};
  std::memcpy(&header, from.data(), sizeof header);
  std::memcpy(&copy, from.data() + sizeof header, sizeof copy);
  if (std::memcmp(&header, &copy, sizeof header) != 0 || !header.initialised) return {};
  auto sum = add_to_sum({}, from.first(offsetof(IndexHeader, sum)), native_is_big());
  if (sum != WalSum{header.sum[0], header.sum[1]}) return {};
  std::uint32_t backfilled = 0;
  std::memcpy(&backfilled, from.data() + 2 * sizeof header, sizeof backfilled);
  return WalIndex{{big32(header.salt), big32(header.salt + 4)},
                  static_cast<int>(header.frames),
                  static_cast<int>(backfilled)};
}

WalVerdict judge_wal(const WalScan& scan, const WalCircumstances& known) {
  auto verdict = judge_by_index(scan, known);
  if (verdict.is_loss() || !known.noted) return verdict;
  return judge_by_note(scan, known, std::move(verdict));
}

}  // namespace holdfast::sqlite
