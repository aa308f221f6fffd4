#pragma once

#include "recovery/recovery.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast {

/// Recovery of what an engine holds, with its settings, or with another `action`. It remembers
/// what other recoveries of this process saw there.
Recovery recovery_of(EngineParts& parts, std::optional<RecoveryAction> action = {});

}  // namespace holdfast
