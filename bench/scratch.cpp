#include "scratch.hpp"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

namespace holdfast::bench {

Scratch::Scratch(const std::filesystem::path& parent) {
  auto pattern = (parent / "holdfast-bench-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw std::system_error{errno, std::generic_category(), "make a folder in " + parent.string()};
  folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace holdfast::bench
