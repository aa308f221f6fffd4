#pragma once

#include <string>

#include "server/service.hpp"

namespace holdfast::server {

/// How the store, its workers, its recovery, its queues, and the server's audit log and tokens are:
/// a level and a sentence for each.
std::string health_json(const StorePlace& place, const Service& service);

}  // namespace holdfast::server
