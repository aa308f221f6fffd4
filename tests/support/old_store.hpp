#pragma once

#include <string>

namespace holdfast::test {

/// Puts a store of an earlier version, from tests/old_stores, into this file. It was not closed
/// properly.
void put_old_store(const std::string& database, int version = 4);

}  // namespace holdfast::test
