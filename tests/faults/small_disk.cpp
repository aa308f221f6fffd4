#include <sys/statvfs.h>

/// The tests in this folder have this disk in the place of the real one: so small that the WAL is
/// copied into the database after a hundred pages. The linker finds it before the one in the C
/// library.
extern "C" int statvfs(const char*, struct statvfs* info) noexcept {
  constexpr unsigned long block_bytes = 4096, blocks = 1024;
  *info = {};
  info->f_frsize = block_bytes;
  info->f_blocks = blocks;
  info->f_bavail = blocks;
  return 0;
}
