#include "engines/sqlite/room.hpp"

#include <fmt/format.h>

#include "engines/sqlite/disk.hpp"

namespace holdfast::sqlite {

namespace {

/// What the tasks will take on disk, roughly: once in the WAL, once in the database.
std::int64_t disk_bytes(std::span<const NewTask> tasks) {
  constexpr std::int64_t besides_payload = 300;
  std::int64_t bytes = 0;
  for (const auto& task : tasks) {
    bytes += 2 * (static_cast<std::int64_t>(task.payload.size()) + besides_payload);
  }
  return bytes;
}

}  // namespace

void expect_room(const Store& store, Connection& db, std::span<const NewTask> tasks) {
  expect_room(store, db, disk_bytes(tasks));
}

void expect_room(const Store& store, Connection& db, std::int64_t bytes) {
  auto disk = disk_of(store.files.folder());
  if (disk.free >= disk.reserve() + bytes) return;
  // Pages that shed history left behind in the file are room too, but the WAL needs some as well.
  auto page = db.number("PRAGMA page_size");
  bool room_for_log = disk.free >= disk.reserve() / 2;
  if (room_for_log && db.number("PRAGMA freelist_count") * page >= bytes) return;
  bool shedding_helps = room_for_log && db.number("PRAGMA page_count") * page >= bytes;
  constexpr double mb = 1'000'000;
  throw StoreFull{
      fmt::format("the disk of {} has no room for {:.1f} MB of new work: {:.1f} of {:.0f} MB are "
                  "free, and {:.1f} MB of that are kept for finishing running work. Nothing was "
                  "enqueued; free some space, enqueue fewer at once or lower the retention limits",
                  store.path, static_cast<double>(bytes) / mb, static_cast<double>(disk.free) / mb,
                  static_cast<double>(disk.total) / mb, static_cast<double>(disk.reserve()) / mb),
      shedding_helps};
}

}  // namespace holdfast::sqlite
