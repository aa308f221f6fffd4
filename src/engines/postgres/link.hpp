#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "engines/postgres/connection.hpp"

namespace holdfast::postgres {

/// A connection that is made when it is needed, and made anew after it broke. Between tries that
/// failed there is a pause that grows to two seconds, in which it says at once that the server
/// cannot be reached. One thread at a time.
class Link {
 public:
  Link(std::shared_ptr<const Dialect> dialect, Durability durability, Connection::Purpose purpose)
      : dialect_{std::move(dialect)}, durability_{durability}, purpose_{purpose} {}

  /// Throws `ConnectionLost` if there is none to be had.
  Connection& get();
  void drop() { connection_.reset(); }
  bool is_up() const { return connection_ && !connection_->is_broken(); }

 private:
  std::shared_ptr<const Dialect> dialect_;
  Durability durability_;
  Connection::Purpose purpose_;
  std::unique_ptr<Connection> connection_;
  std::chrono::milliseconds pause_{0};
  std::chrono::steady_clock::time_point not_before_{};
  std::string why_not_;
};

}  // namespace holdfast::postgres
