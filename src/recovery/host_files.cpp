#include "recovery/host_files.hpp"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace holdfast {

void HostFiles::make_folders(FilesFor whom, std::optional<uid_t> owner) const {
  make_private_folder(folder_, whom, owner);
  expect_private_entries(folder_);
  make_private_subfolder(workers());
  make_private_subfolder(attempts());
}

HostFiles host_files_of(std::string_view store_name) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  auto folder = runtime && *runtime ? fmt::format("{}/holdfast", runtime)
                                    : fmt::format("/tmp/holdfast-{}", ::geteuid());
  make_private_folder(folder);
  HostFiles files{fmt::format("{}/{}", folder, store_name)};
  files.make_folders();
  return files;
}

}  // namespace holdfast
