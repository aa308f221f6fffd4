#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/settings.hpp>

namespace holdfast::redis {

/// Where a server listens: a host and port, or the path of a Unix socket.
struct Endpoint {
  std::string host{};
  int port = 6379;
  std::string socket{};  ///< if not empty, this is used

  std::string text() const;
  bool operator==(const Endpoint&) const = default;
};

/// What the address of a store says:
///
///     redis://[user[:password]@]host[:port][,host[:port]...][/db][?parameters]
///     rediss://...                                   the same over TLS
///     redis+unix:///path/to/socket[?parameters]      (or unix:///path)
///
/// Parameters: `prefix` (the name of the store in the server), `db`, `user`, `password_file`,
/// `tls_ca` (a file with the certificates to trust), `tls_name` (the name that the server's
/// certificate must have, if not the host), `durability` (what is expected of the server).
struct Address {
  std::vector<Endpoint> endpoints{};
  bool tls = false;
  std::string tls_ca{};
  std::string tls_name{};
  std::string user{};
  std::string password{};
  int database = 0;
  std::string prefix = "holdfast";
  std::optional<Durability> expected{};  ///< refuse a server that gives less

  /// Throws `ConfigError`, which never shows the password.
  static Address parse(std::string_view text);
  static bool is_one(std::string_view text);

  /// Without secrets, for messages.
  std::string name() const;
};

}  // namespace holdfast::redis
