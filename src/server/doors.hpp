#pragma once

#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace holdfast::server {

/// Listens on all of these addresses, on one port; 0: on any that is free on each of them. Those
/// after the first may be missing on this machine. Throws `ConfigError` if it cannot.
std::vector<boost::asio::ip::tcp::acceptor> open_doors(boost::asio::io_context& io,
                                                       const std::vector<std::string>& hosts,
                                                       int port);

}  // namespace holdfast::server
