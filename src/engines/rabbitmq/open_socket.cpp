#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fmt/format.h>

#include "engines/rabbitmq/connection.hpp"

namespace holdfast::rabbitmq {

namespace {

constexpr timeval to_connect{10, 0};

/// OpenSSL itself checks the name, because it also knows addresses, and because a certificate may
/// have another name than the host that is dialled.
void set_up_tls(amqp_socket_t* socket, const Address& address) {
  auto* context = static_cast<SSL_CTX*>(::amqp_ssl_socket_get_context(socket));
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  bool trusted = address.tls_ca.empty()
                     ? ::SSL_CTX_set_default_verify_paths(context) == 1
                     : ::SSL_CTX_load_verify_file(context, address.tls_ca.c_str()) == 1;
  if (!trusted)
    throw ConfigError{fmt::format("cannot read certificates from {}",
                                  address.tls_ca.empty() ? "the system" : address.tls_ca)};
  const auto& name = address.tls_name.empty() ? address.host : address.tls_name;
  auto* wanted = ::SSL_CTX_get0_param(context);
  if (::X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) != 1)
    ::X509_VERIFY_PARAM_set1_host(wanted, name.c_str(), name.size());
  ::amqp_ssl_socket_set_verify_peer(socket, 1);
  ::amqp_ssl_socket_set_verify_hostname(socket, 0);
  if (!address.tls_cert.empty() &&
      ::amqp_ssl_socket_set_key(socket, address.tls_cert.c_str(), address.tls_key.c_str()) != 0)
    throw ConfigError{
        fmt::format("cannot use {} with the key {}", address.tls_cert, address.tls_key)};
}

/// Why TLS was not agreed on; the library only says that it was not.
std::string reason(int status) {
  std::string why = ::amqp_error_string2(status);
  for (auto code = ::ERR_get_error(); code != 0; code = ::ERR_get_error())
    if (const char* text = ::ERR_reason_error_string(code)) why += fmt::format(" ({})", text);
  return why;
}

}  // namespace

void open_socket(amqp_connection_state_t state, const Address& address) {
  auto* socket = address.tls ? ::amqp_ssl_socket_new(state) : ::amqp_tcp_socket_new(state);
  if (!socket) throw Disconnected{"cannot make a socket"};
  if (address.tls) set_up_tls(socket, address);
  ::ERR_clear_error();
  auto status = ::amqp_socket_open_noblock(socket, address.host.c_str(), address.port, &to_connect);
  if (status != AMQP_STATUS_OK)
    throw Disconnected{
        fmt::format("no connection to the broker {}: {}", address.name(), reason(status))};
}

}  // namespace holdfast::rabbitmq
