#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/batch_commands.hpp"
#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

// So many are read at a time.
constexpr int rows_at_a_time = 1'000;

struct RowsOptions {
  std::string id;
  std::vector<std::string> statuses;
  int limit = 50;
};

struct OutputOptions {
  std::string id, name, store;
};

std::string remark(const RowRecord& row) {
  return row.messages.empty() ? row.result : row.messages;
}

Exit rows(Context& context, const RowsOptions& options) {
  const Batches batches{context.existing_engine()};
  RowFilter filter{.batch = parse_batch_id(options.id),
                   .statuses = parse_batch_statuses(options.statuses)};
  require_batch(batches, filter.batch);
  Table table{{{"LINE", true}, {"STATUS"}, {"INPUT"}, {"RESULT"}}};
  for (int left = options.limit; left > 0;) {
    filter.limit = std::min(left, rows_at_a_time);
    auto found = batches.rows(filter);
    for (const auto& row : found) {
      if (context.json) context.print_json(row_json(row));
      table.add({std::to_string(row.line),
                 {std::string{to_string(row.status)}, colour_of(row.status)},
                 json_line(row.input),
                 json_line(remark(row))});
    }
    if (static_cast<int>(found.size()) < filter.limit) break;
    left -= filter.limit;
    filter.after_line = found.back().line;
    filter.after_row = found.back().id;
  }
  if (context.json) return Exit::ok;
  if (table.empty())
    context.confirm("no rows");
  else
    context.print(table.text(context.out));
  return Exit::ok;
}

Exit output(Context& context, const OutputOptions& options) {
  auto id = parse_batch_id(options.id);
  const Batches batches{context.existing_engine(),
                        {.blobs = output_store(context, context.store_address(), options.store)}};
  auto batch = require_batch(batches, id);
  if (options.name.empty()) {
    for (const auto& [name, key] : batch.output_files) {
      if (context.json)
        context.print_json(JsonObject{}.text("name", name).text("key", key).str());
      else
        context.say(name);
    }
    return Exit::ok;
  }
  auto content = batches.output(id, options.name);
  if (!content)
    throw InvalidRequest{
        fmt::format("batch {} has no output file '{}'{}", id.text(), options.name,
                    batch.done_at ? "" : "; they are written when it ends, and it has not yet")};
  // As it is: it may be of any kind, and is mostly redirected into a file.
  std::fwrite(content->data(), 1, content->size(), stdout);
  return Exit::ok;
}

}  // namespace

void add_batch_rows(CLI::App& parent, Context& context) {
  auto options = std::make_shared<RowsOptions>();
  CLI::App* command = parent.add_subcommand("rows", "Show the rows of a batch with their results");
  command->add_option("BATCH", options->id, "Its id")->required()->type_name("");
  command->add_option("--status", options->statuses, "With this status; repeatable")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"queued", "inprog", "success", "failed", "aborted"}));
  command->add_option("--limit", options->limit, "At most so many; default: 50")
      ->check(CLI::Range(1, 100'000'000));
  chosen(*command, context, options, rows);
}

void add_batch_output(CLI::App& parent, Context& context) {
  auto options = std::make_shared<OutputOptions>();
  CLI::App* command =
      parent.add_subcommand("output", "List the output files of a batch, or write one to stdout");
  command->add_option("BATCH", options->id, "Its id")->required()->type_name("");
  command->add_option("NAME", options->name, "Which file")->type_name("");
  command->add_option("--output", options->store, "Where output files are, such as dir:FOLDER")
      ->type_name("URL");
  chosen(*command, context, options, output);
}

}  // namespace holdfast::cli
