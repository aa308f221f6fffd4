#pragma once

#include <string>

#include "server/service.hpp"

namespace holdfast::server {

/// How the store, its workers, its recovery and its queues are: a level and a sentence for each.
std::string health_json(const StorePlace& place);

}  // namespace holdfast::server
