#pragma once

#include <string>
#include <vector>

#include <holdfast/http/response.hpp>

#include "support/http_server.hpp"
#include "support/temp_store.hpp"

namespace holdfast::http {

/// Paths at which a server misbehaves, each in its own way.
std::vector<std::string> misbehaviours();
/// What becomes of a request that meets with that.
ErrorType expected_of(const std::string& how);
/// It ends when the time of the request is over.
bool takes_all_the_time(const std::string& how);

/// Fifty million zeros, compressed by gzip into fifty thousand bytes.
std::string gzip_bomb(const test::TempStore& store);

/// Answers as badly as the path of the request says. `port` is that of the server itself.
test::Reply misbehave(const std::string& how, const std::string& bomb, int port);

}  // namespace holdfast::http
