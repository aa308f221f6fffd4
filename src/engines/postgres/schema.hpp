#pragma once

#include <string_view>

namespace holdfast::postgres {

/// schema.sql: from nothing to version 1.
extern const std::string_view schema_1;
/// schema_2.sql: from there to version 2.
extern const std::string_view schema_2;
/// schema_3.sql: from there to version 3.
extern const std::string_view schema_3;
/// schema_transactions.sql: from there to version 4.
extern const std::string_view schema_transactions;
/// schema_5.sql: from there to version 5.
extern const std::string_view schema_5;
/// schema_6.sql: from there to version 6.
extern const std::string_view schema_6;
/// schema_7.sql: from there to version 7.
extern const std::string_view schema_7;
/// schema_8.sql: from there to version 8.
extern const std::string_view schema_8;
/// batch_tables.sql: what may be there already because others made it.
extern const std::string_view batch_tables;

}  // namespace holdfast::postgres
