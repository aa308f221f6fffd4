#pragma once

#include <string>
#include <string_view>

#include <holdfast/error.hpp>
#include <holdfast/http/client.hpp>

namespace holdfast::http {

/// What a connection is made to.
struct Origin {
  std::string scheme;
  std::string host;  ///< lower-case, an IPv6 address without its brackets
  int port = 0;
  bool is_address = false;  ///< not a name
  auto operator<=>(const Origin&) const = default;
};

/// Thrown for a text that nobody can read as a URL, in contrast to one that is not for us.
class NotAUrl : public InvalidRequest {
  using InvalidRequest::InvalidRequest;
};

/// Throws `InvalidRequest` for what is not an absolute http or https URL with a host and without a
/// user name.
Origin origin_of(std::string_view url);

/// Whether a text has nothing in it but what names and numbers of hosts have, in lower case.
bool could_be_host(std::string_view text);

/// Whether it ends as an address of IPv4 does, in whatever way that is written: 0x7f.1 or
/// 2130706433.
bool ends_in_number(std::string_view host);

/// Nobody can read the host of this URL differently: it follows the scheme at once, has nothing but
/// letters, digits, dots and hyphens, and is either no number or an address as everybody writes it.
bool is_plainly_written(std::string_view url, const Origin& origin);

/// Whether it is a scheme, a host, perhaps a user, a password and a port, and nothing else but a
/// slash at the end.
bool is_place(std::string_view url);

/// `path` below `base`: `https://a/v1` and `users?x=1` are `https://a/v1/users?x=1`, with and
/// without a slash at the end or the beginning. An absolute URL stays what it is.
std::string join_url(std::string_view base, std::string_view path);

/// Adds parameters to those that the URL has.
std::string with_parameters(std::string_view url, const Parameters& params);

/// Where a `Location` leads to that was found at `url`; fragments are dropped. Throws
/// `InvalidRequest` for one that leads nowhere, `NotAUrl` if that is because of how it is written.
std::string resolve(std::string_view url, std::string_view location);

/// The URL without what may be secret (its query), for messages.
std::string without_query(std::string_view url);

}  // namespace holdfast::http
