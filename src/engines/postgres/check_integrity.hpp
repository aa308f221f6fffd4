#pragma once

#include <stop_token>

#include <holdfast/integrity.hpp>

#include "engines/postgres/store.hpp"

namespace holdfast::postgres {

/// Asks the server what it knows about damage, and looks whether the tables fit to each other.
IntegrityResult check_integrity(Store& store, bool full, std::stop_token stop);

}  // namespace holdfast::postgres
