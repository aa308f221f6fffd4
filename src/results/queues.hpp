#pragma once

#include <holdfast/results.hpp>

namespace holdfast::results {

/// The queues that a transaction reads now.
std::vector<std::string> queues_of(const Transaction& transaction);
/// Those of earlier rounds, which could not be read.
std::vector<std::string> replaced_queues_of(const Transaction& transaction);

}  // namespace holdfast::results
