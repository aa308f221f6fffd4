#pragma once

#include <string_view>

namespace holdfast::postgres {

/// schema.sql: from nothing to version 1.
extern const std::string_view schema_1;

}  // namespace holdfast::postgres
