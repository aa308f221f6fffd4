#pragma once

#include <string_view>

namespace holdfast::postgres {

/// schema.sql: from nothing to version 1.
extern const std::string_view schema_1;
/// schema_2.sql: from there to version 2.
extern const std::string_view schema_2;

}  // namespace holdfast::postgres
