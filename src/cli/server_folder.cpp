#include "cli/server_folder.hpp"

#include <cstdlib>

#include "cli/context.hpp"

namespace holdfast::cli {

std::optional<std::string> server_folder(const std::string& store) {
  if (const auto file = sqlite_file(store)) return *file + ".holdfast/server";
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state && *state) return std::string{state} + "/holdfast";
  if (home && *home) return std::string{home} + "/.local/state/holdfast";
  return {};
}

}  // namespace holdfast::cli
