#include "support/temp_store.hpp"

#include <stdlib.h>

#include <cstdio>
#include <system_error>

namespace holdfast::test {

TempStore::TempStore() {
  std::string pattern = std::filesystem::temp_directory_path() / "holdfast-test-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    throw std::system_error{errno, std::generic_category(), "mkdtemp " + pattern};
  folder_ = pattern;
  std::filesystem::create_directory(journals());
}

TempStore::~TempStore() {
  if (std::getenv("HOLDFAST_KEEP")) {
    std::fprintf(stderr, "kept: %s\n", folder_.c_str());
    return;
  }
  std::error_code ignored;  // a leftover in /tmp is not worth a failing test
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace holdfast::test
