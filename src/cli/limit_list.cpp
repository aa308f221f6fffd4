#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/limit_text.hpp"
#include "cli/table.hpp"
#include "documents/limit_json.hpp"

namespace holdfast::cli {

namespace {

struct LimitListOptions {};

/// A line for the limit, and for `*` one for each that it is in use by.
void add_rows(Table& table, const LimitStatus& status) {
  const auto& limit = status.limit;
  const std::string scope{to_string(limit.scope)};
  auto most = limit.max_running ? std::to_string(*limit.max_running) : "";
  auto rate = limit.rate ? rate_text(*limit.rate) : "";
  bool for_each = limit.name == each_name;
  if (for_each || status.uses.empty())
    table.add({scope, limit.name, most, for_each ? "" : "0", rate, ""});
  for (const LimitUse& use : status.uses)
    table.add({scope, use.name, most, std::to_string(use.running), rate,
               use.tokens ? std::to_string(*use.tokens) : ""});
}

Exit run_limit_list(Context& context, const LimitListOptions&) {
  const auto limits = Limits{context.existing_engine()}.list();
  if (context.json) {
    for (const LimitStatus& status : limits) context.print_json(limit_json(status));
    return Exit::ok;
  }
  if (limits.empty()) {
    context.confirm("there are no limits; 'holdfast limit set' sets one");
    return Exit::ok;
  }
  Table table{{{"SCOPE"}, {"NAME"}, {"MOST", true}, {"RUNNING", true}, {"RATE"}, {"LEFT", true}}};
  for (const LimitStatus& status : limits) add_rows(table, status);
  context.print(table.text(context.out));
  return Exit::ok;
}

}  // namespace

void add_limit_list(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand("list", "Limits, and how much of each is in use");
  chosen(*command, context, std::make_shared<LimitListOptions>(), run_limit_list);
}

}  // namespace holdfast::cli
