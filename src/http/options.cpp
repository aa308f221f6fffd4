#include <openssl/err.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <memory>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/http/processor.hpp>
#include <holdfast/http/signature.hpp>

#include "http/egress.hpp"
#include "http/headers.hpp"
#include "http/url.hpp"

namespace holdfast::http {

namespace {

/// One slot of the worker's board each.
constexpr int most_capacity = 16'384;

template <class Number>
void check_range(const char* name, Number value, Number least, Number most) {
  if (value < least || value > most)
    throw ConfigError{fmt::format("{} is {}; {} to {} is allowed", name, value, least, most)};
}

void check_time(const char* name, Millis value, Millis least, Millis most) {
  if (value < least || value > most)
    throw ConfigError{fmt::format("{} is {} ms; {} to {} is allowed", name, value.count(),
                                  least.count(), most.count())};
}

void check_proxy(const std::string& proxy) {
  if (proxy.empty()) return;
  auto lowered = lower(proxy);
  if (!lowered.starts_with("http://") && !lowered.starts_with("https://"))
    throw ConfigError{"the proxy must be an http:// or https:// URL"};
  // The same for everything that is wrong with it: what libcurl would say has the password in it.
  if (!is_place(proxy))
    throw ConfigError{
        "the proxy is not of the form http://[USER:PASSWORD@]HOST[:PORT]. In a user or password, "
        "write %2F for /, %40 for @, %3F for ?, %23 for # and %20 for a space (it is not shown "
        "here because there may be a password in it)"};
}

/// Found out now, not by every request. It is read as libcurl reads it.
void check_ca_file(const std::string& path) {
  if (path.empty()) return;
  if (::access(path.c_str(), R_OK) != 0)
    throw ConfigError{fmt::format("the file of trusted certificates {} cannot be read", path)};
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(),
                                                                      &X509_STORE_free};
  if (X509_STORE_load_file(store.get(), path.c_str()) == 1) return;
  ERR_clear_error();
  throw ConfigError{
      fmt::format("{} is to have trusted certificates, and has none in it (in PEM)", path)};
}

void check_user_agent(const std::string& text) {
  if (text.find_first_not_of(" \t") == text.npos)
    throw ConfigError{"the user agent is empty; servers turn such requests away"};
  try {
    check_header("user-agent", text);
  } catch (const InvalidRequest& error) {
    throw ConfigError{error.what()};
  }
}

}  // namespace

void validate(const ProcessorOptions& options) {
  constexpr Millis day = std::chrono::hours{24};
  check_range("capacity", options.capacity, 1, most_capacity);
  check_range("requests per host", options.per_host, 0, most_capacity);
  check_range("idle connections", options.idle_connections, 0, most_capacity);
  check_time("the idle timeout", options.idle_timeout, Millis{1'000}, day);
  check_time("the connect timeout", options.connect_timeout, Millis{1}, day);
  check_time("the request timeout", options.request_timeout, Millis{1}, day);
  check_time("the time that names are kept", options.dns_cache, Millis{0}, day);
  check_range("max redirects", options.max_redirects, 0, 50);
  check_range<std::size_t>("max response bytes", options.max_response_bytes, 1, 1u << 30);
  check_range("failures before a circuit breaker opens", options.breaker.failures, 0, 1'000'000);
  check_time("the pause of a circuit breaker", options.breaker.pause, Millis{1}, day);
  check_time("the patience with a host", options.breaker.patience.value_or(Millis{0}), Millis{0},
             365 * day);
  check_proxy(options.proxy);
  check_ca_file(options.ca_file);
  check_user_agent(options.user_agent);
  Egress{options.egress};
  for (const auto& [name, keys] : options.signing_keys) {
    if (keys.empty()) throw ConfigError{fmt::format("signing key '{}' has no key", name)};
    for (const auto& key : keys) {
      signing_key(key.value);
      validate(key.binding);
    }
  }
  validate(options.payloads);
}

}  // namespace holdfast::http
