#include <openssl/err.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "engines/redis/transport.hpp"

namespace holdfast::redis {

namespace {

std::string last_error(const SSL* ssl, int result) {
  auto kind = ::SSL_get_error(ssl, result);
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return "no answer in time";
  if (auto wrong = ::SSL_get_verify_result(ssl); wrong != X509_V_OK)
    return fmt::format("its certificate is not trusted ({})",
                       ::X509_verify_cert_error_string(wrong));
  char text[200] = "the connection was closed";
  if (auto code = ::ERR_get_error(); code != 0) ::ERR_error_string_n(code, text, sizeof text);
  return text;
}

/// A signal came while the socket was waited for, which OpenSSL tells like a socket that is not
/// ready.
bool is_interrupted(const SSL* ssl, int result) {
  auto kind = errno == EINTR ? ::SSL_get_error(ssl, result) : SSL_ERROR_NONE;
  return kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE;
}

/// Does it until no signal comes in between.
template <class F>
int undisturbed(const SSL* ssl, F&& call) {
  for (;;) {
    ::ERR_clear_error();
    errno = 0;
    int result = call();
    if (result == 1 || !is_interrupted(ssl, result)) return result;
  }
}

/// TLS over a socket that blocks for no longer than its timeout, so no event loop is needed.
class TlsTransport final : public Transport {
 public:
  TlsTransport(int fd, const Address& address, const Endpoint& endpoint) : fd_{fd} {
    try {
      set_up(address, endpoint);
    } catch (const std::exception&) {
      close();
      throw;
    }
  }
  ~TlsTransport() override { close(); }
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      std::size_t sent = 0;
      int result = undisturbed(
          ssl_, [&] { return ::SSL_write_ex(ssl_, bytes.data(), bytes.size(), &sent); });
      if (result != 1) fail(result);
      bytes.remove_prefix(sent);
    }
  }

  std::size_t read(char* into, std::size_t room) override {
    std::size_t got = 0;
    int result = undisturbed(ssl_, [&] { return ::SSL_read_ex(ssl_, into, room, &got); });
    if (result != 1) fail(result);
    return got;
  }

  bool has_unread() const override { return ::SSL_pending(ssl_) > 0; }
  int fd() const override { return fd_; }

 private:
  void set_up(const Address& address, const Endpoint& endpoint) {
    context_ = ::SSL_CTX_new(::TLS_client_method());
    if (!context_) throw StoreError{"cannot set up TLS"};
    ::SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
    ::SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    bool trusted = address.tls_ca.empty()
                       ? ::SSL_CTX_set_default_verify_paths(context_) == 1
                       : ::SSL_CTX_load_verify_file(context_, address.tls_ca.c_str()) == 1;
    if (!trusted)
      throw ConfigError{fmt::format("cannot read certificates from {}",
                                    address.tls_ca.empty() ? "the system" : address.tls_ca)};
    ssl_ = ::SSL_new(context_);
    auto name = address.tls_name.empty() ? endpoint.host : address.tls_name;
    auto* wanted = ::SSL_get0_param(ssl_);
    if (::X509_VERIFY_PARAM_set1_ip_asc(wanted, name.c_str()) != 1) {
      ::SSL_set1_host(ssl_, name.c_str());
      ::SSL_set_tlsext_host_name(ssl_, name.c_str());
    }
    ::SSL_set_fd(ssl_, fd_);
    if (int result = undisturbed(ssl_, [&] { return ::SSL_connect(ssl_); }); result != 1)
      throw Disconnected{fmt::format("no TLS with the Redis server at {}: {}", endpoint.text(),
                                     last_error(ssl_, result))};
  }

  [[noreturn]] void fail(int result) {
    throw Disconnected{fmt::format("the connection broke: {}", last_error(ssl_, result))};
  }

  void close() {
    ::SSL_free(ssl_);
    ::SSL_CTX_free(context_);
    ::close(fd_);
  }

  int fd_;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
};

}  // namespace

std::unique_ptr<Transport> secure(int fd, const Address& address, const Endpoint& endpoint) {
  return std::make_unique<TlsTransport>(fd, address, endpoint);
}

}  // namespace holdfast::redis
