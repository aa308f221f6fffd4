#pragma once

#include <string_view>

#include "engines/objects/object_store.hpp"
#include "engines/s3/service.hpp"

namespace holdfast::s3 {

/// Where an address leads to.
struct Target {
  objects::Place place;
  objects::Server server;
  Bucket bucket;
};
/// Throws `ConfigError`. The keys come from the file that the address names, or from the
/// environment.
Target parse(std::string_view address);

}  // namespace holdfast::s3
