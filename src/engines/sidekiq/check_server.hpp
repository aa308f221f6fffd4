#pragma once

#include <string>
#include <vector>

#include "engines/redis/server.hpp"
#include "engines/sidekiq/dialect.hpp"

namespace holdfast::sidekiq {

/// Throws `StoreUnusable` for a server that cannot be worked with: one of a cluster, where the keys
/// of Sidekiq are on different nodes, or one that removes keys by itself. Returns what to warn of:
/// what a restart of the server may cost, and what is unsafe about it.
std::vector<std::string> check_server(redis::Server& server);

/// Throws `StoreUnusable` where another version of Holdfast keeps requests in flight so that this
/// one would misread them. Where nothing is said, they are kept as the first version did.
void check_format(redis::Server& server, const Dialect& dialect);

}  // namespace holdfast::sidekiq
