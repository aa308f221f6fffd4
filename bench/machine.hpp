#pragma once

#include <filesystem>
#include <string>

namespace holdfast::bench {

struct Machine {
  int cores = 0;
  std::string processor;
  std::string memory;
  std::string kernel;
  std::string file_system;  ///< of the folder that was measured in
  double sync_ms = 0;       ///< median of an fdatasync after an appended block, there
  std::string sqlite;
  std::string compiler;
};

Machine look_at_machine(const std::filesystem::path& folder);

}  // namespace holdfast::bench
