#pragma once

#include <cstddef>
#include <string>

#include <holdfast/report.hpp>

namespace holdfast::server {

/// Of a list within a report, an answer has so many entries at the most.
inline constexpr std::size_t longest_list_in_report = 1'000;

/// The JSON of a report with what is left out of its lists, as a number: `tasks_left_out`,
/// `dead_workers_left_out` and so on. `most_tasks`: of those of which the report has some.
std::string shown_report(RecoveryReport report, std::size_t most_tasks = longest_list_in_report);

}  // namespace holdfast::server
