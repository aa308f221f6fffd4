#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/batch_commands.hpp"
#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct BatchChangeOptions {
  std::string id;
  std::string liveness{};
};

void print_changed(const Context& context, BatchId id, const std::string& what) {
  if (context.json)
    context.print_json(JsonObject{}.text("id", id.text()).text("change", what).str());
  else
    context.confirm(fmt::format("{} {}", id.text(), what));
}

[[noreturn]] void refuse(const Batches& batches, BatchId id, const std::string& why) {
  auto batch = require_batch(batches, id);
  throw InvalidRequest{
      fmt::format("batch {} {}: it is {}", id.text(), why, to_string(batch.status))};
}

Exit release(Context& context, const BatchChangeOptions& options) {
  auto id = parse_batch_id(options.id);
  Batches batches{context.existing_engine()};
  if (!batches.release(id)) refuse(batches, id, "does not wait to be released");
  print_changed(context, id, "released");
  return Exit::ok;
}

Exit abort_it(Context& context, const BatchChangeOptions& options) {
  auto id = parse_batch_id(options.id);
  Batches batches{context.existing_engine(), {.liveness = liveness_of(options.liveness)}};
  if (!batches.abort(id)) refuse(batches, id, "has ended already");
  print_changed(context, id, "aborted");
  return Exit::ok;
}

/// Adds what both have.
CLI::App& add_change(CLI::App& parent, Context& context,
                     const std::shared_ptr<BatchChangeOptions>& options, const std::string& name,
                     const std::string& description,
                     Exit (*run)(Context&, const BatchChangeOptions&)) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_option("BATCH", options->id, "Its id")->required()->type_name("");
  chosen(*command, context, options, run);
  return *command;
}

}  // namespace

void add_batch_release(CLI::App& parent, Context& context) {
  add_change(parent, context, std::make_shared<BatchChangeOptions>(), "release",
             "Let a batch run that waits", release);
}

void add_batch_abort(CLI::App& parent, Context& context) {
  auto options = std::make_shared<BatchChangeOptions>();
  add_liveness(add_change(parent, context, options, "abort",
                          "Call a batch off: what is not done is aborted", abort_it),
               options->liveness);
}

}  // namespace holdfast::cli
