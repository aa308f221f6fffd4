#pragma once

#include <boost/system/error_code.hpp>

#include "server/problem.hpp"

namespace holdfast::server {

/// What to tell a caller whose message cannot be read.
Problem problem_of(const boost::system::error_code& failure);
/// Whether the connection is over: then there is nothing to tell.
bool ended(const boost::system::error_code& failure);

}  // namespace holdfast::server
