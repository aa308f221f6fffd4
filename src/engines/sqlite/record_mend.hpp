#pragma once

#include <functional>
#include <optional>

#include "engines/sqlite/table_shape.hpp"

namespace holdfast::sqlite {

/// Most damage is one bit. A row of a table with a checksum of 64 bits says which one it was: the
/// only one that makes `fits` true when it is turned back. Nothing if there is none, or more than
/// one, or if the record is too long to try all.
std::optional<Record> mend_record(Blob bytes, const TableShape& table,
                                  const std::function<bool(const Record&)>& fits);

}  // namespace holdfast::sqlite
