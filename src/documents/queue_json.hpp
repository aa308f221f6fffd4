#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast {

/// The documented JSON of a queue.
std::string queue_json(const QueueStatus& queue);

/// The documented JSON of the queues of a store.
std::string queues_json(const Engine& engine, const std::vector<QueueStatus>& queues);
/// The same of a part of them: `list` is the JSON of these, `next_cursor` where the others begin,
/// as JSON; empty: there are no others.
std::string queues_json(const Engine& engine, const std::string& list,
                        const std::string& next_cursor);

}  // namespace holdfast
