#include "support/memory.hpp"

#include <cstdlib>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace holdfast::test {

std::int64_t peak_memory(pid_t pid) {
  std::ifstream status{fmt::format("/proc/{}/status", pid)};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6) * 1'024;
  return 0;
}

}  // namespace holdfast::test
