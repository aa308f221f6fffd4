#include "engines/sqlite/database_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

/// The bytes that SQLite locks: pending, reserved, and 510 that readers share.
constexpr off_t lock_bytes = 0x40000000;
constexpr off_t lock_length = 512;

bool try_lock_out_sqlite(int fd) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = lock_bytes;
  range.l_len = lock_length;
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

}  // namespace

void keep_open_for_ever(FileDescriptor file) {
  static std::mutex mutex;
  static std::vector<FileDescriptor> files;
  std::lock_guard lock{mutex};
  files.push_back(std::move(file));
}

std::optional<ByteFile> ByteFile::open(const std::string& path, int flags) {
  FileDescriptor file{::open(path.c_str(), flags | O_CLOEXEC)};
  struct stat info {};
  if (!file && errno == ENOENT) return {};
  if (!file || ::fstat(file.get(), &info) != 0)
    throw StoreError{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return ByteFile{std::move(file), static_cast<std::uint64_t>(info.st_size)};
}

ReadAt ByteFile::reader() const {
  return [fd = file.get()](std::uint64_t offset, std::span<std::uint8_t> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      auto got =
          ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw StoreError{fmt::format("cannot read a file: {}", std::strerror(errno))};
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  };
}

DatabaseFile::DatabaseFile(const std::string& path) {
  auto bytes = ByteFile::open(path, O_RDWR);
  if (!bytes) return;
  if (!try_lock_out_sqlite(bytes->file.get())) {
    found_ = Found::in_use;
    keep_open_for_ever(std::move(bytes->file));
    return;
  }
  found_ = Found::taken;
  bytes_ = std::move(bytes);
}

DatabaseFile::Header DatabaseFile::header() const {
  std::uint8_t start[100] = {};
  if (bytes_->reader()(0, start) != sizeof start) return {};
  // Byte 18 says how the file is to be written: 1 with a rollback journal, 2 with a log.
  return {std::memcmp(start, "SQLite format 3", 16) == 0, start[18] == 2};
}

}  // namespace holdfast::sqlite
