#pragma once

#include <boost/json/value.hpp>

#include <holdfast/http/response.hpp>

#include "engines/sidekiq/dialect.hpp"

namespace holdfast::sidekiq {

/// An answer and an error as the gem's classes read them.
boost::json::value response_data(const http::Response& response, const Dialect& dialect);

/// `location` is where a redirect led that was not followed.
boost::json::value error_data(const http::RequestError& error, const std::string& location,
                              const Dialect& dialect);

/// The type of an error in the gem's totals.
std::string_view error_type(const http::RequestError& error);

}  // namespace holdfast::sidekiq
