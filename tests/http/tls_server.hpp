#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

using SSL_CTX = struct ssl_ctx_st;

namespace holdfast::test {

/// What the certificate of a server says. It is its own issuer.
struct CertificateTerms {
  std::string of = "IP:127.0.0.1";
  std::chrono::seconds from = std::chrono::hours{-1}, until = std::chrono::hours{1};  ///< from now
};

/// Answers every request on loopback with the same bytes and closes the connection.
class TlsServer {
 public:
  struct Options {
    CertificateTerms certificate{};
    int newest_version = 0;  ///< of TLS that it speaks, such as TLS1_VERSION; 0: all that there are
    bool resets = false;     ///< the connection, in the middle of a request
    std::string reply = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngood";
  };
  explicit TlsServer(const Options& options);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  /// Adds its certificate to those that are trusted by who reads the file.
  void trusted_by(const std::filesystem::path& file) const;

  std::string url(const std::string& path = "/") const;
  int port() const { return port_; }
  int connections() const { return connections_; }  ///< that were made
  int served() const { return served_; }            ///< of them with a request that could be read

 private:
  void accept_all();
  void serve(int connection);

  bool resets_;
  std::string reply_, certificate_;
  SSL_CTX* context_;
  int listener_ = -1, port_ = 0;
  std::atomic<int> connections_ = 0, served_ = 0;
  std::thread thread_;
};

}  // namespace holdfast::test
