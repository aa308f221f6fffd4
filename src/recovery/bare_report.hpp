#pragma once

#include <holdfast/report.hpp>

namespace holdfast {

/// Of a report, everything but its tasks and workers, which stores keep one by one as they come.
RecoveryReport bare_report(const RecoveryReport& report);

}  // namespace holdfast
