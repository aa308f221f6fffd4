#include "http/egress.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/headers.hpp"
#include "http/url.hpp"

namespace holdfast::http {

Egress::Egress(const EgressOptions& options) : everything_{options.allow_private} {
  for (const auto& exception : options.allow) {
    if (auto network = Network::parse(exception)) {
      networks_.push_back(*network);
    } else if (auto host = lower(exception); could_be_host(host)) {
      hosts_.insert(host);
    } else {
      throw ConfigError{
          fmt::format("'{}' is neither a network (10.1.0.0/16) nor a host that may be connected to",
                      exception)};
    }
  }
}

std::string Egress::refusal(const std::string& host, const Address& address, int port) const {
  if (everything_ || hosts_.contains(host)) return {};
  if (std::ranges::any_of(networks_, [&](const auto& one) { return one.contains(address); }))
    return {};
  if (auto what = special_use(address); !what.empty())
    return fmt::format("{} is at {}, which is a {} address; allow it by its network or host", host,
                       address.text(), what);
  if (port < 1024 && port != 80 && port != 443)
    return fmt::format(
        "port {} of {} belongs to another service than the web; allow it by its "
        "network or host",
        port, host);
  return {};
}

}  // namespace holdfast::http
