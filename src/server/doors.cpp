#include "server/doors.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using Failure = boost::system::error_code;

namespace {

/// A port that is free on one address is nearly always free on the others.
constexpr int most_tries = 20;

/// The machine has no IPv6, or not on this interface.
bool is_missing(const Failure& failure) {
  return failure == asio::error::address_family_not_supported ||
         failure == boost::system::errc::address_not_available;
}

Failure open_door(tcp::acceptor& door, const asio::ip::address& address, int port) {
  const tcp::endpoint where{address, static_cast<unsigned short>(port)};
  try {
    door.open(where.protocol());
    door.set_option(asio::socket_base::reuse_address{true});
    door.bind(where);
    door.listen(1'024);
  } catch (const boost::system::system_error& error) {
    return error.code();
  }
  return {};
}

asio::ip::address parse(const std::string& host) {
  Failure failed;
  const auto address = asio::ip::make_address(host, failed);
  if (failed) throw ConfigError{fmt::format("'{}' is not an address to listen on", host)};
  return address;
}

}  // namespace

std::vector<tcp::acceptor> open_doors(asio::io_context& io, const std::vector<std::string>& hosts,
                                      int port) {
  for (int tries = 1;; ++tries) {
    std::vector<tcp::acceptor> doors;
    Failure failure;
    for (const auto& host : hosts) {
      tcp::acceptor door{io};
      failure = open_door(door, parse(host),
                          doors.empty() ? port : doors.front().local_endpoint().port());
      if (!failure) doors.push_back(std::move(door));
      if (!failure || (!doors.empty() && is_missing(failure))) continue;
      if (port == 0 && !doors.empty() && tries < most_tries) break;  // with another port
      throw ConfigError{
          fmt::format("cannot listen on {} port {}: {}", host, port, failure.message())};
    }
    if (!failure || is_missing(failure)) return doors;
  }
}

}  // namespace holdfast::server
