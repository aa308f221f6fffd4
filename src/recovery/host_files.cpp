#include "recovery/host_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast {

namespace {

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return;
  auto message = fmt::format("cannot create the folder {}: {}", path, std::strerror(errno));
  if (errno == EACCES || errno == EROFS || errno == EPERM) throw StoreReadOnly{message};
  throw StoreError{message};
}

/// Anybody may have made a folder of that name in /tmp; what is in it would be believed.
void expect_own_folder(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
      (info.st_mode & 022) == 0)
    return;
  throw StoreError{fmt::format(
      "{} is not a folder that only the user {} may write to; remove it, or set XDG_RUNTIME_DIR to "
      "a folder of that user",
      path, ::geteuid())};
}

}  // namespace

void HostFiles::make_folders() const {
  make_folder(folder_);
  make_folder(workers());
  make_folder(attempts());
}

HostFiles host_files_of(std::string_view store_name) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  auto folder = runtime && *runtime ? fmt::format("{}/holdfast", runtime)
                                    : fmt::format("/tmp/holdfast-{}", ::geteuid());
  make_folder(folder);
  expect_own_folder(folder);
  HostFiles files{fmt::format("{}/{}", folder, store_name)};
  files.make_folders();
  return files;
}

}  // namespace holdfast
