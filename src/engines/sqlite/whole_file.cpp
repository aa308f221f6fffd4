#include "engines/sqlite/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/private_files.hpp"

namespace holdfast::sqlite {

namespace {

[[noreturn]] void throw_file_error(std::string_view doing, const std::string& path) {
  auto what = fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno));
  if (errno == ENOSPC || errno == EDQUOT) throw StoreFull{what + "; free some space"};
  if (errno == EIO) throw StorageFailed{what + "; check the disk"};
  if (errno == EROFS) throw StoreReadOnly{what};
  throw StoreError{what};
}

}  // namespace

WholeFile::WholeFile(const std::string& path)
    : path_{path}, file_{open_private(path, O_WRONLY | O_CREAT | O_TRUNC)} {}

void WholeFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    auto written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_file_error("write", path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void WholeFile::sync() {
  if (::fsync(file_.get()) != 0) throw_file_error("sync", path_);
}

void copy_file(const std::string& from, const std::string& to) {
  std::error_code unknown;
  if (!std::filesystem::exists(from, unknown)) return;
  auto source = open_file(from, O_RDONLY);
  WholeFile copy{to};
  std::array<char, 65'536> bytes;
  for (;;) {
    auto count = ::read(source.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error("read", from);
    if (count == 0) return;
    copy.append({bytes.data(), static_cast<std::size_t>(count)});
  }
}

void sync_file(const std::string& path) {
  auto file = open_file(path, O_RDONLY);
  if (::fsync(file.get()) != 0) throw_file_error("sync", path);
}

void sync_folder_of(const std::string& path) {
  auto folder = std::filesystem::absolute(path).parent_path();
  FileDescriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // Some file systems have no such thing, and some folders may be used but not read.
  if (!opened || ::fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return;
  throw StorageFailed{fmt::format(
      "the storage failed under {} while its folder was synced: {}. Check the disk, then start "
      "again",
      path, std::strerror(errno))};
}

bool move_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  throw_file_error("rename", from);
}

void remove_database(const std::string& path) {
  for (const char* end : {"", "-wal", "-shm", "-journal"}) {
    auto file = path + end;
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) throw_file_error("remove", file);
  }
}

}  // namespace holdfast::sqlite
