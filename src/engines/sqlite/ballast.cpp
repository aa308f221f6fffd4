#include "engines/sqlite/ballast.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "engines/sqlite/disk.hpp"
#include "recovery/private_files.hpp"

namespace holdfast::sqlite {

void Ballast::take_on() const {
  auto disk = disk_of(std::filesystem::path{path_}.parent_path());
  auto wanted = disk.reserve() / 4;
  if (disk.free < 2 * disk.reserve()) return;
  auto file = try_open_private(path_, O_RDWR | O_CREAT);
  struct stat now {};
  if (!file || ::fstat(file.get(), &now) != 0 || now.st_size >= wanted) return;
  // Not posix_fallocate, which writes byte by byte where the file system cannot do it.
  [[maybe_unused]] int refused = ::fallocate(file.get(), 0, 0, wanted);
}

bool Ballast::throw_off() const {
  auto file = try_open_private(path_, O_RDWR);
  struct stat now {};
  if (!file || ::fstat(file.get(), &now) != 0 || now.st_size == 0) return false;
  return ::ftruncate(file.get(), 0) == 0;
}

}  // namespace holdfast::sqlite
