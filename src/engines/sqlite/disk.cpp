#include "engines/sqlite/disk.hpp"

#include <sys/statvfs.h>

namespace holdfast::sqlite {

Disk disk_of(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return {};
  auto block = static_cast<std::int64_t>(info.f_frsize);
  return {static_cast<std::int64_t>(info.f_blocks) * block,
          static_cast<std::int64_t>(info.f_bavail) * block};
}

}  // namespace holdfast::sqlite
