#pragma once

#include <functional>

#include "tasks/engine_parts.hpp"

namespace holdfast {

/// Settles and claims for `worker` in one step, and then tells listeners what came of it. Nothing
/// else calls `TaskStore::exchange`, so that every change of a task is told, wherever it runs.
/// `before_telling` sees the answer first, and may correct it.
Exchanged perform_exchange(EngineParts& parts, WorkerId worker, const Exchange& exchange,
                           const std::function<void(Exchanged&)>& before_telling = {});

}  // namespace holdfast
