#pragma once

#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "server/client.hpp"

namespace holdfast::server {

std::shared_ptr<Client> make_client(Home& home, boost::asio::ip::tcp::socket socket,
                                    std::string peer);
std::shared_ptr<Client> make_tls_client(Home& home, boost::asio::ip::tcp::socket socket,
                                        boost::asio::ssl::context& tls, std::string peer);

}  // namespace holdfast::server
