#pragma once

#include <string>

#include "support/postgres_server.hpp"

namespace holdfast::bench {

/// Rows a second of others, each in a schema of its own on the same server, one worker process.

/// The services that the tables of batches are shared with: blocks of ten, a commit for every
/// result, and, if `sums_up`, a look after each block whether the batch is complete.
double original_rate(test::PostgresServer& server, int rows, bool sums_up);

/// The least that gives every row a result: a thousand are ended and the next thousand claimed in
/// each transaction, on the same tables, without owner, lease, token or attempts.
double raw_rate(test::PostgresServer& server, int rows);

/// graphile-worker, from `node_modules`; `variant` as its adapter knows it.
double graphile_rate(test::PostgresServer& server, int jobs, const std::string& variant);

}  // namespace holdfast::bench
