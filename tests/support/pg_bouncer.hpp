#pragma once

#include <optional>
#include <string>

#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// PgBouncer before a server, which gives each transaction whatever session is free. Ends with this
/// object.
class PgBouncer {
 public:
  /// Sessions with the server are of this role.
  PgBouncer(const PostgresServer& server, const std::string& database, const std::string& role);

  /// Of a store behind it, with more parameters such as `schema=jobs`.
  std::string address(const std::string& parameters) const;
  /// What it says when it does not start.
  std::string said() { return process_->err(); }

 private:
  TempStore folder_;
  std::string database_, role_;
  std::optional<Process> process_;
};

}  // namespace holdfast::test
