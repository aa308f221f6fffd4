#include "engines/sqlite/upgrade.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "engines/sqlite/copy_store.hpp"
#include "engines/sqlite/disk.hpp"
#include "engines/sqlite/processes.hpp"
#include "engines/sqlite/schema.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

constexpr Writer::KillPoints upgrade_points{KillPoint::upgrade_before_commit,
                                            KillPoint::upgrade_after_commit};

std::string has_tables_of(const std::string& path, int version) {
  return fmt::format("{} has tables of schema {}, and this program works with schema {}", path,
                     version, schema_version);
}

[[noreturn]] void throw_no_room(const std::string& path, int version, const std::string& why) {
  throw StoreReadOnly{fmt::format(
      "{}. There is no room for the backup that the upgrade makes first ({}). The store is opened "
      "read-only and was not changed. Free some space, then start again",
      has_tables_of(path, version), why)};
}

/// With its log, because the backup has what is in there.
std::int64_t bytes_of_store(const std::string& path) {
  std::int64_t bytes = 0;
  for (const char* end : {"", "-wal"}) {
    std::error_code absent;
    auto size = fs::file_size(path + end, absent);
    if (!absent) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

void expect_room_for_backup(const std::string& path, int version) {
  const auto disk = disk_of(fs::absolute(path).parent_path());
  const auto bytes = bytes_of_store(path);
  if (disk.total == 0 || disk.free >= bytes + disk.reserve()) return;
  constexpr double mb = 1'000'000;
  throw_no_room(path, version,
                fmt::format("{:.1f} MB; {:.1f} MB are free, and {:.1f} MB of that are kept for "
                            "finishing running work",
                            static_cast<double>(bytes) / mb, static_cast<double>(disk.free) / mb,
                            static_cast<double>(disk.reserve()) / mb));
}

}  // namespace

std::string backup_name(const std::string& path, std::optional<int> version) {
  return path + ".schema-" + (version ? std::to_string(*version) : "");
}

void back_up_for_upgrade(const std::string& path, int version, WallTime now) {
  expect_room_for_backup(path, version);
  kill_point(KillPoint::upgrade_before_backup);
  try {
    copy_store(path, backup_name(path, version), now);
  } catch (const StoreFull& full) {
    throw_no_room(path, version, full.what());
  }
  kill_point(KillPoint::upgrade_after_backup);
}

void upgrade(Writer& writer, int version) {
  writer.write(upgrade_points, [&](Connection& db) { upgrade_tables(db, version); });
}

std::string why_not_upgraded(const std::string& path, const SideFiles& files, int version) {
  const auto others = names_of(processes_with_open(files.open_lock()));
  return fmt::format(
      "{}. The upgrade requires exclusive access: stop {}, then start again",
      has_tables_of(path, version),
      others.empty() ? "everything else that has the store open" : "process " + others);
}

}  // namespace holdfast::sqlite
