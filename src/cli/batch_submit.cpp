#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/batch_commands.hpp"
#include "cli/batch_input.hpp"
#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct BatchSubmitOptions {
  std::string file, format;
  NewBatch batch;
};

struct AppendOptions {
  std::string id, file, format;
  bool release = false;
};

Exit run_batch_submit(Context& context, const BatchSubmitOptions& options) {
  auto read = rows_of_file(context, options.file, options.format);
  Batches batches{context.engine()};
  auto batch = options.batch;
  if (options.file != "-") batch.file = read.file;
  auto rows = read.rows.size();
  auto submitted = submit_rows(batches, std::move(batch), std::move(read.rows));
  if (context.json) {
    context.print_json(JsonObject{}
                           .text("id", submitted.id.text())
                           .flag("created", submitted.created)
                           .number("rows", rows)
                           .number("bad_lines", read.problems.size())
                           .str());
    return Exit::ok;
  }
  context.say(submitted.id.text());
  if (!submitted.created && !context.quiet)
    fmt::print(stderr, "holdfast: this file was taken before; nothing was submitted\n");
  return Exit::ok;
}

Exit append(Context& context, const AppendOptions& options) {
  auto id = parse_batch_id(options.id);
  auto read = rows_of_file(context, options.file, options.format);
  Batches batches{context.existing_engine()};
  append_after_last(batches, id, read.rows, options.release);
  if (context.json)
    context.print_json(JsonObject{}.text("id", id.text()).number("rows", read.rows.size()).str());
  else
    context.confirm(fmt::format("{} rows appended", read.rows.size()));
  return Exit::ok;
}

}  // namespace

void add_batch_submit(CLI::App& parent, Context& context) {
  auto options = std::make_shared<BatchSubmitOptions>();
  CLI::App* command =
      parent.add_subcommand("submit", "Submit the rows of a file as a batch; prints its id");
  command->add_option("FILE", options->file, "JSON Lines or CSV; - is standard input")
      ->required()
      ->type_name("");
  add_new_batch(*command, options->batch, options->format);
  command->add_flag("--wait", options->batch.wait, "Hold it until it is released");
  chosen(*command, context, options, run_batch_submit);
}

void add_batch_append(CLI::App& parent, Context& context) {
  auto options = std::make_shared<AppendOptions>();
  CLI::App* command = parent.add_subcommand("append", "Add rows to a batch that waits");
  command->add_option("BATCH", options->id, "Its id")->required()->type_name("");
  command->add_option("FILE", options->file, "JSON Lines or CSV; - is standard input")
      ->required()
      ->type_name("");
  command->add_option("--format", options->format, "Default: by the name of the file")
      ->check(CLI::IsMember({"jsonl", "csv"}));
  command->add_flag("--release", options->release, "And let it run");
  chosen(*command, context, options, append);
}

}  // namespace holdfast::cli
