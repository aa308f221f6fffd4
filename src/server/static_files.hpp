#pragma once

#include "server/embedded.hpp"
#include "server/request.hpp"

namespace holdfast::server {

/// A file of the program: not at all if the caller has this version, and compressed if it may be.
Response serve_file(const Request& request, const EmbeddedFile& file);

/// What was compressed with gzip.
std::string unzipped(std::string_view gzipped);

}  // namespace holdfast::server
