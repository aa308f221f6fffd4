#pragma once

#include <string>
#include <string_view>

#include <holdfast/error.hpp>

struct pg_result;

namespace holdfast::postgres {

/// The connection broke, so nobody told us how the statement ended.
class ConnectionLost : public StoreError {
  using StoreError::StoreError;
};

/// Two transactions were in each other's way, and this one gave way. The same again will do.
class Conflict : public StoreError {
  using StoreError::StoreError;
};

/// The role may not do this.
class NotAllowed : public StoreReadOnly {
  using StoreReadOnly::StoreReadOnly;
};

/// Throws the error of ours that fits what the server said.
[[noreturn]] void throw_server_error(const pg_result* result, const std::string& store);
/// The same for a connection that could not be made, or broke; `message` is libpq's.
[[noreturn]] void throw_connection_lost(const char* message, const std::string& store);

}  // namespace holdfast::postgres
