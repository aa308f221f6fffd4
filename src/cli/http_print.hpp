#pragma once

#include <holdfast/http/client.hpp>

#include "cli/context.hpp"
#include "cli/http_options.hpp"

namespace holdfast::cli {

/// What is needed to perform a request in this process.
struct PrintedRequest {
  http::Method method = http::Method::get;
  std::string url;
  http::Call call;
  http::ClientOptions client;
  EgressFlags egress;
};

/// Performs it here and now, and prints the answer. The store does not know of it, except while one
/// is performed that must not be sent twice: that one is held, and stays so if nobody hears how it
/// ended.
Exit perform_and_print(Context& context, const PrintedRequest& printed);

}  // namespace holdfast::cli
