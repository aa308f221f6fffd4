#include "engines/sqlite/evidence.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "engines/sqlite/database_file.hpp"
#include "engines/sqlite/disk.hpp"
#include "engines/sqlite/whole_file.hpp"
#include "recovery/private_content.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::sqlite {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t copies_kept = 3;
constexpr std::int64_t largest_copy = std::int64_t{2} << 30;
constexpr const char* note = "why.txt";

[[noreturn]] void throw_copy_error(const std::string& path) {
  throw StoreError{
      fmt::format("cannot copy evidence to {}: {}; nothing was changed. Make room, "
                  "then try again",
                  path, std::strerror(errno))};
}

void sync_folder(const fs::path& path) {
  FileDescriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder || ::fsync(folder.get()) != 0) throw_copy_error(path);
}

void write_synced(const FileDescriptor& file, std::span<const std::uint8_t> bytes,
                  const fs::path& path) {
  while (!bytes.empty()) {
    auto put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_copy_error(path);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void copy_file(const std::string& from, const fs::path& to) {
  auto source = ByteFile::open(from, O_RDONLY);
  if (!source) return;
  auto target = open_private(to, O_WRONLY | O_CREAT | O_EXCL);
  auto read = source->reader();
  std::vector<std::uint8_t> buffer(1 << 20);
  for (std::uint64_t offset = 0;;) {
    auto got = read(offset, buffer);
    if (got == 0) break;
    write_synced(target, std::span{buffer}.first(got), to);
    offset += got;
  }
  if (::fsync(target.get()) != 0) throw_copy_error(to);
}

/// Changes whenever one of the files does.
std::string fingerprint(const std::string& database) {
  std::string text;
  for (const char* suffix : {"", "-wal"}) {
    struct stat info {};
    if (::stat((database + suffix).c_str(), &info) != 0) continue;
    text += fmt::format("{}{}: {} bytes, inode {}, written {}.{:09}\n",
                        fs::path{database}.filename().string(), suffix, info.st_size, info.st_ino,
                        info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
  return text;
}

/// Only whole copies: the others have another name until they are.
std::vector<fs::path> copies(const SideFiles& files) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator{files.evidence(), none})
    if (!entry.path().filename().string().starts_with(".")) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

void make_room(const SideFiles& files) {
  std::error_code ignored;  // old evidence that cannot be removed is no reason not to copy more
  for (const auto& entry : fs::directory_iterator{files.evidence(), ignored})
    if (entry.path().filename().string().starts_with(".")) fs::remove_all(entry.path(), ignored);
  auto all = copies(files);
  for (std::size_t i = 0; i + copies_kept <= all.size(); ++i) fs::remove_all(all[i], ignored);
}

bool fits(const std::string& database, const SideFiles& files) {
  std::error_code unknown;
  auto size = static_cast<std::int64_t>(fs::file_size(database, unknown));
  if (unknown || size > largest_copy) return false;
  auto disk = disk_of(files.folder());
  return disk.total == 0 || disk.free > size + 2 * disk.reserve();
}

}  // namespace

std::string copy_evidence(const std::string& database, const SideFiles& files, WallTime now,
                          const std::string& why, Evidence what) {
  auto about = fingerprint(database);
  auto before = copies(files);
  if (!before.empty() && read_private_file(before.back() / note).ends_with(about))
    return before.back();

  make_private_subfolder(files.evidence());
  make_room(files);
  auto name = iso8601(now);
  while (fs::exists(fs::path{files.evidence()} / name)) name += "+";
  auto making = fs::path{files.evidence()} / ("." + name), made = fs::path{files.evidence()} / name;
  make_private_subfolder(making);

  auto base = fs::path{database}.filename().string();
  bool in_use = what == Evidence::log, whole = !in_use && fits(database, files);
  copy_file(database + "-wal", making / (base + "-wal"));
  if (!in_use) copy_file(database + "-shm", making / (base + "-shm"));
  if (whole) copy_file(database, making / base);
  std::string_view left_out;
  if (in_use) left_out = "Only the log: another program had the database open.\n";
  if (!in_use && !whole) left_out = "The database was too large to be copied.\n";
  WholeFile text{making / note};
  text.append(fmt::format("{}\n{}{}", why, left_out, about));
  text.sync();
  sync_folder(making);
  if (::rename(making.c_str(), made.c_str()) != 0) throw_copy_error(made);
  sync_folder(files.evidence());
  return made;
}

std::vector<KeptFile> list_evidence(const SideFiles& files) {
  std::vector<KeptFile> found;
  for (const auto& copy : copies(files)) {
    KeptFile kept{.path = copy};
    std::error_code gone;
    for (const auto& file : fs::directory_iterator{copy, gone})
      kept.bytes += static_cast<std::int64_t>(fs::file_size(file.path(), gone));
    found.push_back(std::move(kept));
  }
  return found;
}

}  // namespace holdfast::sqlite
