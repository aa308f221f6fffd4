#include "cli/report_text.hpp"

#include "documents/json.hpp"

namespace holdfast::cli {

void print_report(const Context& context, const RecoveryReport& report) {
  if (context.json)
    context.print_json(json_line(to_json(report)));
  else
    context.print(to_text(report, wall_now()));
}

}  // namespace holdfast::cli
