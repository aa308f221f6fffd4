#pragma once

#include <memory>
#include <string>

#include "engines/sqlite/connection.hpp"

namespace holdfast::sqlite {

/// A connection that changes neither the database nor its log, also where nothing at all can be
/// written. Throws `StoreUnusable` if there is no Holdfast store in it.
std::unique_ptr<Connection> open_read_only(const std::string& path, Durability durability);

}  // namespace holdfast::sqlite
