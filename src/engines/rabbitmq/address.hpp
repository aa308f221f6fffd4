#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast::rabbitmq {

/// What the address of a broker says:
///
///     amqp://[user[:password]@]host[:port][/vhost][?parameters]
///     amqps://...                                    the same over TLS
///
/// Parameters: `password_file`; `tls_ca` (a file with the certificates to trust), `tls_name` (the
/// name that the server's certificate must have, if not the host), `tls_cert` and `tls_key` (our
/// own); `heartbeat` (seconds); `queues` (`quorum` or `classic`: what we make), `delivery_limit`
/// (of quorum queues that we make; 1,000,000 without it); `spool` (a folder for large bodies on
/// their way).
struct Address {
  std::string host{};
  int port = 5672;
  std::string vhost = "/";
  std::string user = "guest";
  std::string password = "guest";
  bool tls = false;
  std::string tls_ca{};
  std::string tls_name{};
  std::string tls_cert{};
  std::string tls_key{};
  std::chrono::seconds heartbeat{30};
  bool quorum = true;
  int delivery_limit = 1'000'000;
  std::string spool{};  ///< empty: where temporary files go

  /// Throws `ConfigError`, which never shows the password.
  static Address parse(std::string_view text);

  /// Without secrets, for messages.
  std::string name() const;
};

}  // namespace holdfast::rabbitmq
