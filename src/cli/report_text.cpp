#include "cli/report_text.hpp"

#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

/// Workers that renew too late, again and again, are not waited for.
constexpr int most_looks = 20;

}  // namespace

void print_report(const Context& context, const RecoveryReport& report) {
  if (context.json)
    context.print_json(json_line(to_json(report)));
  else
    context.print(to_text(report, wall_now()));
}

RecoveryReport recover_and_print(const Context& context,
                                 const std::function<RecoveryReport()>& recover,
                                 const std::stop_token& stop) {
  auto report = recover();
  for (int looks = 1; report.waiting > 0 && looks < most_looks && !stop.stop_requested(); ++looks) {
    if (report.found_anything()) print_report(context, report);
    if (!context.quiet)
      fmt::print(stderr,
                 "holdfast: past their time by the server's clock: {}; looking again in {}\n",
                 report.waiting, duration_text(report.look_again));
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any{}.wait_for(lock, stop, report.look_again, [] { return false; });
    report = recover();
  }
  print_report(context, report);
  return report;
}

}  // namespace holdfast::cli
