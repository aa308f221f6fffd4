#pragma once

#include <string_view>

#include "engines/azure/service.hpp"
#include "engines/objects/object_store.hpp"

namespace holdfast::azure {

/// Where an address leads to.
struct Target {
  objects::Place place;
  objects::Server server;
  Account account;
};
/// Throws `ConfigError`. The key comes from the file that the address names, or from the
/// environment.
Target parse(std::string_view address);

}  // namespace holdfast::azure
