#pragma once

#include <string>
#include <string_view>

#include <holdfast/settings.hpp>

namespace holdfast::postgres {

/// Where a store is, in the words of libpq, and what of the address is ours.
struct Address {
  std::string connection{};  ///< for libpq; may contain a password, so it is never shown
  std::string schema = "holdfast";
  /// Where the tables of batches are, if they are shared with others; empty: with the rest.
  std::string batches_schema{};
  std::string name{};  ///< for people: without the password

  const std::string& batches() const { return batches_schema.empty() ? schema : batches_schema; }
};

/// Whether an address is one of PostgreSQL: `postgres:` or `postgresql:` and so on.
bool is_postgres(std::string_view address);

/// Reads `postgres://user@host/database?schema=jobs`, or `postgres:` and what libpq calls a
/// connection string (`postgres:host=db dbname=work schema=jobs`). `durability` goes into the
/// settings. Throws `ConfigError`, which never quotes the address.
Address parse_address(std::string_view address, Settings& settings);

}  // namespace holdfast::postgres
