#include "http/tls_server.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "support/loopback.hpp"

namespace holdfast::test {

namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate certificate_for(const CertificateTerms& terms, EVP_PKEY* key) {
  Certificate made{X509_new(), &X509_free};
  auto* certificate = made.get();
  X509_set_version(certificate, X509_VERSION_3);
  // Each its own: who trusts several finds them by their names.
  static std::atomic<int> number = 0;
  const auto name = "test " + std::to_string(++number);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), number);
  X509_gmtime_adj(X509_getm_notBefore(certificate), terms.from.count());
  X509_gmtime_adj(X509_getm_notAfter(certificate), terms.until.count());
  auto* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_set_pubkey(certificate, key);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> names{
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, terms.of.c_str()),
      &X509_EXTENSION_free};
  if (!names || X509_add_ext(certificate, names.get(), -1) != 1 ||
      X509_sign(certificate, key, EVP_sha256()) == 0)
    throw std::runtime_error{"no certificate can be made"};
  return made;
}

std::string pem_of(X509* certificate) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory{BIO_new(BIO_s_mem()), &BIO_free};
  PEM_write_bio_X509(memory.get(), certificate);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

TlsServer::TlsServer(const Options& options)
    : resets_{options.resets}, reply_{options.reply}, context_{SSL_CTX_new(TLS_server_method())} {
  const Key key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  const auto certificate = certificate_for(options.certificate, key.get());
  certificate_ = pem_of(certificate.get());
  // Without this nobody here would speak the old versions.
  SSL_CTX_set_security_level(context_, 0);
  SSL_CTX_set_cipher_list(context_, "ALL:@SECLEVEL=0");
  if (SSL_CTX_use_certificate(context_, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context_, key.get()) != 1 ||
      SSL_CTX_set_min_proto_version(context_, TLS1_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context_, options.newest_version) != 1)
    throw std::runtime_error{"the server cannot use its certificate or its version of TLS"};
  auto listening = listen_on_loopback();
  listener_ = listening.socket;
  port_ = listening.port;
  thread_ = std::thread{[this] { accept_all(); }};
}

TlsServer::~TlsServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
  SSL_CTX_free(context_);
}

void TlsServer::trusted_by(const std::filesystem::path& file) const {
  std::ofstream{file, std::ios::app} << certificate_;
}

std::string TlsServer::url(const std::string& path) const {
  return "https://127.0.0.1:" + std::to_string(port_) + path;
}

void TlsServer::accept_all() {
  // OpenSSL writes to clients that are gone. In other threads that must not happen.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  int connection = 0;
  while ((connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0) {
    ++connections_;
    serve(connection);
    ::close(connection);
  }
}

void TlsServer::serve(int connection) {
  // Somebody who says nothing must not keep the others, and the end of the test, waiting.
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls{SSL_new(context_), &SSL_free};
  SSL_set_fd(tls.get(), connection);
  if (SSL_accept(tls.get()) != 1) return;
  if (resets_) {
    char byte = 0;
    SSL_read(tls.get(), &byte, 1);
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    return;
  }
  std::string request;
  std::array<char, 4'096> bytes{};
  while (request.find("\r\n\r\n") == request.npos) {
    const int got = SSL_read(tls.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (got <= 0) return;
    request.append(bytes.data(), static_cast<std::size_t>(got));
  }
  ++served_;
  SSL_write(tls.get(), reply_.data(), static_cast<int>(reply_.size()));
  SSL_shutdown(tls.get());
}

}  // namespace holdfast::test
