#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast {

/// The same as the public one, with queues that were counted before.
std::string store_metrics(const Engine& engine, const std::vector<QueueStatus>& queues);

}  // namespace holdfast
