#pragma once

#include <vector>

#include "engines/postgres/connection.hpp"
#include "transactions/transaction_store.hpp"

namespace holdfast::postgres {

/// Steps of many transactions in as few trips to the server as there can be, inside a transaction
/// of the database that the caller has begun. Statements that nobody waits for are left in the
/// queue of the connection.
std::vector<Stepped> take_steps(Connection& db, const std::vector<const Step*>& steps);

/// The same without a look at the lease, for one that the caller has locked.
Stepped take_step_of_nobody(Connection& db, const Step& step);

/// Parameters are text, and the body of a message may be anything.
std::string hex_of(std::string_view bytes);

}  // namespace holdfast::postgres
