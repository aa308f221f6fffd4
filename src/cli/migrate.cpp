#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/postgres.hpp>

#include "cli/command.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct MigrateOptions {
  bool print = false;
};

Exit run_migrate(Context& context, const MigrateOptions& options) {
  const auto address = context.store_address();
  if (!address.starts_with("postgres"))
    throw InvalidRequest{
        "only stores on PostgreSQL are migrated by hand; others are when they are opened"};
  if (options.print) {
    context.print(postgres::migration_text(address));
    return Exit::ok;
  }
  const auto done = postgres::migrate(address);
  if (context.json)
    context.print_json(JsonObject{}.number("before", done.before).number("now", done.now).str());
  else if (done.before == done.now)
    context.confirm(fmt::format("the tables are of version {} already", done.now));
  else
    context.confirm(fmt::format("the tables are of version {} now", done.now));
  return Exit::ok;
}

}  // namespace

void add_migrate(CLI::App& parent, Context& context) {
  auto options = std::make_shared<MigrateOptions>();
  CLI::App* command = parent.add_subcommand(
      "migrate", "Make the tables of a store on PostgreSQL, or bring them to this version");
  command->add_flag("--print", options->print,
                    "Print the statements for an empty database instead of running them");
  chosen(*command, context, options, run_migrate);
}

}  // namespace holdfast::cli
