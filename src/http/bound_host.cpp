#include "http/bound_host.hpp"

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/address.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::http {

namespace {

constexpr std::string_view after_scheme = "://";
constexpr std::string_view any_below = "*.";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw ConfigError{
      fmt::format("'{}' is not a host that a secret can be bound to: {}; write api.example.org, "
                  "*.example.org, api.example.org:8443 or http://10.0.0.7:8080",
                  plain(text), why)};
}

std::string with_port(const Origin& origin) {
  auto host =
      origin.host.find(':') == origin.host.npos ? origin.host : fmt::format("[{}]", origin.host);
  const int usual = origin.scheme == "https" ? 443 : 80;
  return origin.port == usual ? host : fmt::format("{}:{}", host, origin.port);
}

}  // namespace

BoundHost BoundHost::parse(std::string_view text) {
  BoundHost bound;
  const auto scheme = text.find(after_scheme);
  std::string front{"https://"};
  std::string_view rest = text;
  if (scheme != text.npos) {
    front = text.substr(0, scheme + after_scheme.size());
    rest.remove_prefix(front.size());
  }
  bound.below = rest.starts_with(any_below);
  if (bound.below) rest.remove_prefix(any_below.size());
  if (rest.find_first_of("/?#@*\\% ") != rest.npos)
    refuse(text, "only a host and a port belong here");
  if (rest.ends_with(':')) refuse(text, "its port is missing");
  try {
    bound.origin = origin_of(front + std::string{rest});
  } catch (const InvalidRequest& error) {
    refuse(text, error.what());
  }
  const auto& host = bound.origin.host;
  if (host.ends_with('.')) refuse(text, "its name ends in a dot");
  if (!bound.origin.is_address && ends_in_number(host)) refuse(text, "it ends in a number");
  if (bound.below && (bound.origin.is_address || host.find('.') == host.npos))
    refuse(text, "a wildcard needs a domain with a dot in it");
  return bound;
}

bool BoundHost::covers(const Origin& to) const {
  if (to.scheme != origin.scheme || to.port != origin.port) return false;
  if (below) return !to.is_address && to.host.ends_with("." + origin.host);
  if (origin.is_address && to.is_address)
    return Address::parse(to.host) == Address::parse(origin.host);
  return to.host == origin.host;
}

std::string bound_host_text(const Origin& origin) {
  return origin.scheme == "https" ? with_port(origin) : url_text(origin);
}

std::string url_text(const Origin& origin) {
  return fmt::format("{}://{}", origin.scheme, with_port(origin));
}

}  // namespace holdfast::http
