#include "server/wire_fault.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>

namespace holdfast::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

Problem problem_of(const boost::system::error_code& failure) {
  if (failure == http::error::header_limit) return {431, "too_large", "the headers are too large"};
  if (failure == http::error::body_limit) return {413, "too_large", "the body is too large"};
  return invalid("this is not HTTP as we speak it: " + failure.message());
}

bool ended(const boost::system::error_code& failure) {
  return failure && (failure == http::error::end_of_stream ||
                     failure == http::error::partial_message || failure == beast::error::timeout ||
                     failure.category() == asio::error::get_system_category() ||
                     failure.category() == asio::error::get_misc_category() ||
                     failure.category() == asio::error::get_ssl_category());
}

}  // namespace holdfast::server
