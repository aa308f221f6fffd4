// Loaded into a program by LD_PRELOAD. With `HOLDFAST_FAIL_SYNC=n` its n-th sync of a file fails;
// later ones succeed again, because the kernel reports a failed write once and then forgets it.
// With `HOLDFAST_FAIL_FOLDER_SYNC` in the environment every sync of a folder fails.

#include <dlfcn.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

bool fails(int fd) {
  static std::atomic<int> syncs{0};
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
    return std::getenv("HOLDFAST_FAIL_FOLDER_SYNC") != nullptr;
  const char* given = std::getenv("HOLDFAST_FAIL_SYNC");
  return given && ++syncs == std::atoi(given);
}

int sync_or_fail(const char* name, int fd) {
  if (fails(fd)) {
    errno = EIO;
    return -1;
  }
  auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, name));
  return real(fd);
}

}  // namespace

extern "C" int fsync(int fd) { return sync_or_fail("fsync", fd); }
extern "C" int fdatasync(int fd) { return sync_or_fail("fdatasync", fd); }
