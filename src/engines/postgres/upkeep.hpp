#pragma once

#include <holdfast/postgres.hpp>

#include "engines/postgres/store.hpp"

namespace holdfast::postgres {

Upkeep look_at_upkeep(Connection& db);

}  // namespace holdfast::postgres
