#include "cli/server_folder.hpp"

#include <sys/stat.h>

#include <cstdlib>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/context.hpp"
#include "recovery/private_files.hpp"

namespace holdfast::cli {

std::optional<std::string> server_folder(const std::string& store) {
  if (const auto file = sqlite_file(store)) return *file + ".holdfast/server";
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state && *state) return std::string{state} + "/holdfast";
  if (home && *home) return std::string{home} + "/.local/state/holdfast";
  return {};
}

void make_folder_above_server(const std::string& store) {
  const auto file = sqlite_file(store);
  if (!file) return;
  struct stat database {};
  std::optional<uid_t> owner;
  if (::stat(file->c_str(), &database) == 0) owner = database.st_uid;
  try {
    make_private_folder(*file + ".holdfast",
                        is_for_group(store) ? FilesFor::group : FilesFor::owner, owner);
  } catch (const StoreError& error) {
    throw ConfigError{fmt::format("{}; name another folder with --state", error.what())};
  }
}

}  // namespace holdfast::cli
