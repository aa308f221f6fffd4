#include "http/curl_errors.hpp"

#include <algorithm>
#include <array>

namespace holdfast::http {

namespace {

/// libcurl has one code for a handshake that failed and for one that the other side broke off.
bool was_broken_off(std::string_view said) {
  constexpr std::array signs{"SSL_ERROR_SYSCALL", "reset by peer", "unexpected eof", "Broken pipe"};
  return std::ranges::any_of(signs,
                             [&](std::string_view sign) { return said.find(sign) != said.npos; });
}

}  // namespace

ErrorType error_type_of(CURLcode code, std::string_view said) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorType::timeout;
    case CURLE_SSL_CONNECT_ERROR:
      return was_broken_off(said) ? ErrorType::connection : ErrorType::ssl;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_USE_SSL_FAILED:
      return ErrorType::ssl;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_PROXY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_UNSUPPORTED_PROTOCOL:  // what answered does not speak HTTP that we know
      return ErrorType::connection;
    default:  // also a file of certificates that cannot be read here and now
      return ErrorType::unknown;
  }
}

std::string_view explain(CURLcode code, std::string_view said) {
  const bool names_proxy = said.starts_with("Unsupported proxy");
  return said.empty() || names_proxy ? curl_easy_strerror(code) : said;
}

}  // namespace holdfast::http
