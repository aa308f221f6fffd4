#include "cli/input_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast::cli {

std::string content_of_input(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>{std::cin}, {}};
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw InvalidRequest{fmt::format("{} is a directory; name a file", path)};
  std::ifstream file{path, std::ios::binary};
  if (!file) throw InvalidRequest{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace holdfast::cli
