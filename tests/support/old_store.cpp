#include "support/old_store.hpp"

#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>

namespace holdfast::test {

void put_old_store(const std::string& database, int version) {
  const auto command = fmt::format("gzip -dc '{}/tests/old_stores/sqlite_{}.db.gz' > '{}'",
                                   HOLDFAST_SOURCE_DIR, version, database);
  if (std::system(command.c_str()) != 0) throw std::runtime_error{"failed: " + command};
}

}  // namespace holdfast::test
