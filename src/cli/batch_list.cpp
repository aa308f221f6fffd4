#include <fmt/format.h>

#include "cli/batch_commands.hpp"
#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct BatchListOptions {
  BatchFilter filter;
  std::vector<std::string> statuses;
};

Exit run_batch_list(Context& context, const BatchListOptions& options) {
  const Batches batches{context.existing_engine()};
  auto filter = options.filter;
  filter.statuses = parse_batch_statuses(options.statuses);
  auto found = batches.list(filter);
  Table table{{{"BATCH"},
               {"STATUS"},
               {"APP"},
               {"OP"},
               {"ROWS", true},
               {"OPEN", true},
               {"FAILED", true},
               {"SUBMITTED"}}};
  for (const auto& batch : found) {
    if (context.json) context.print_json(batch_json(batch));
    table.add({batch.id.text(),
               {std::string{to_string(batch.status)}, colour_of(batch.status)},
               batch.app,
               batch.op,
               std::to_string(batch.rows.all()),
               std::to_string(batch.rows.open()),
               std::to_string(batch.rows[BatchStatus::failed]),
               age_text(batch.submitted_at, wall_now())});
  }
  if (context.json) return Exit::ok;
  if (found.empty())
    context.confirm("no batches");
  else
    context.print(table.text(context.out));
  return Exit::ok;
}

}  // namespace

void add_batch_list(CLI::App& parent, Context& context) {
  auto options = std::make_shared<BatchListOptions>();
  CLI::App* command = parent.add_subcommand("list", "List batches, the newest first");
  command->add_option("--app", options->filter.app, "Of this application")->type_name("APP");
  command->add_option("--op", options->filter.op, "Of this operation")->type_name("OP");
  command->add_option("--status", options->statuses, "With this status; repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"queued", "inprog", "success", "failed", "aborted", "wait"}));
  command->add_option("--limit", options->filter.limit, "At most so many; default: 50")
      ->check(CLI::Range(1, 100'000));
  chosen(*command, context, options, run_batch_list);
}

}  // namespace holdfast::cli
