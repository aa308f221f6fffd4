#pragma once

#include <string>
#include <vector>

namespace holdfast::test {

/// Addresses that nobody outside may make a processor connect to.
struct ForbiddenRange {
  std::string first, inner, last;
  std::string before, after;  ///< the next ones that anybody may have; empty: there is none
};
std::vector<ForbiddenRange> forbidden_ranges();

/// The first, the last and one of those between of every range, each once.
std::vector<std::string> forbidden_addresses();

/// Addresses of IPv6 that have this one of IPv4 in them. The last two lead there by way of the
/// internet (NAT64, 6to4) if it is a place that anybody may have; the others never do.
std::vector<std::string> carriers_of(const std::string& four);

/// `http://` with an address of either kind as its host.
std::string url_of(const std::string& address, int port);

/// URLs that are, or that somebody takes for, `http://127.0.0.1:port/`, or another place that is
/// forbidden, or none that is for the web.
std::vector<std::string> odd_spellings(int port);

}  // namespace holdfast::test
