#pragma once

#include <string>

#include "engines/redis/server.hpp"

namespace holdfast::sidekiq {

/// Throws `StoreUnusable` for a server that cannot be worked with: one of a cluster, where the keys
/// of Sidekiq are on different nodes, or one that removes keys by itself. Returns what a restart of
/// the server may cost; empty: nothing.
std::string check_server(redis::Server& server);

}  // namespace holdfast::sidekiq
