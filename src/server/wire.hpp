#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/request.hpp"

namespace holdfast::server {

/// Every caller can send so much before it is known who it is.
inline constexpr std::size_t most_header_bytes = 16 * 1024;
inline constexpr std::size_t most_headers = 64;

/// Makes a `Request` of the head of a message. Throws `Problem` for what no honest client sends:
/// two hosts, a path that leads upwards, too many headers. `raw_path` is set to the path as it was
/// written.
Request read_head(std::string_view method, std::string_view target,
                  const std::vector<std::pair<std::string_view, std::string_view>>& headers,
                  std::string& raw_path);

/// Status line and headers of an answer, with those that keep browsers from doing harm.
std::string write_head(const Response& response, bool keep_alive, bool secure);

}  // namespace holdfast::server
