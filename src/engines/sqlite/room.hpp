#pragma once

#include <span>

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Running work must still be able to settle when the disk is almost full, so new work is refused
/// while there is some room left: throws `StoreFull`.
void expect_room(const Store& store, Connection& db, std::span<const NewTask> tasks);
/// The same for anything else that takes so many bytes.
void expect_room(const Store& store, Connection& db, std::int64_t bytes);

}  // namespace holdfast::sqlite
