#pragma once

#include "engines/sqlite/store.hpp"

namespace holdfast::sqlite {

/// Removes finished tasks beyond the limits with all that belongs to them, oldest first, a thousand
/// to a transaction and at most about a hundred thousand a call. Returns how many.
std::int64_t prune_finished(Store& store, const Settings::Retention& retention);

}  // namespace holdfast::sqlite
