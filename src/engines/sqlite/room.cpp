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
  auto bytes = disk_bytes(tasks);
  auto disk = disk_of(store.files.folder());
  if (disk.free >= disk.reserve() + bytes) return;
  // Pages that shed history left behind in the file are room too, but the WAL needs some as well.
  auto inside = db.number("PRAGMA freelist_count") * db.number("PRAGMA page_size");
  if (disk.free >= disk.reserve() / 2 && inside >= bytes) return;
  throw StoreFull{
      fmt::format("the disk of {} is almost full ({} of {} MB free; {} MB are kept for finishing "
                  "running work); "
                  "new tasks are refused. Free some space or lower the retention limits",
                  store.path, disk.free >> 20, disk.total >> 20, disk.reserve() >> 20)};
}

}  // namespace holdfast::sqlite
