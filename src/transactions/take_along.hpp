#pragma once

#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// Takes what the transactions among these tasks have beside them to the other store, which has the
/// tasks already. Can be repeated as long as nobody has run them there.
void take_transactions_along(const Engine& from, const Engine& to,
                             const std::vector<const TaskRecord*>& tasks);

}  // namespace holdfast
