#include "tasks/recovery_of.hpp"

namespace holdfast {

Recovery recovery_of(EngineParts& parts, std::optional<RecoveryAction> action) {
  auto settings = parts.settings().recovery;
  if (action) settings.action = *action;
  return {parts.tasks(),
          parts.workers(),
          parts.reports(),
          parts.events(),
          parts.clock(),
          settings,
          {},
          {},
          &parts.recovery_memory()};
}

}  // namespace holdfast
