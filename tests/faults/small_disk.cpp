#include "engines/sqlite/disk.hpp"

namespace holdfast::sqlite {

/// The tests in this folder have this disk in the place of the real one: so small that the WAL is
/// copied into the database after a hundred pages. The linker finds it before the one in the
/// library.
Disk disk_of(const std::string&) {
  constexpr std::int64_t bytes = std::int64_t{4} << 20;
  return {.total = bytes, .free = bytes};
}

}  // namespace holdfast::sqlite
