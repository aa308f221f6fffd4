#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/sqlite.hpp>

#include "cli/command.hpp"
#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct RestoreOptions {
  std::string file;
  bool force = false;
};

void say(Context& context, const std::string& store, const RestoreOptions& options,
         const sqlite::RestoreResult& done) {
  context.confirm(fmt::format("{} is what {} was{}: {} tasks", store, options.file,
                              done.made_at ? " on " + iso8601(*done.made_at) : "", done.tasks));
  if (!done.kept_aside.empty())
    context.confirm(fmt::format("the file that was there is kept as {}", done.kept_aside));
  if (done.held > 0)
    context.confirm(fmt::format(
        "{} tasks are held, because they may have run since: look at them with 'holdfast task list "
        "--status held', and release them with 'holdfast task retry --status held'",
        done.held));
}

Exit run_restore(Context& context, const RestoreOptions& options) {
  const auto store = sqlite_file(context.store_address());
  if (!store || store->empty())
    throw InvalidRequest{"only a SQLite store can be restored: name it with --store sqlite:FILE"};
  const auto done = sqlite::restore(
      *store, options.file,
      {.overwrite = options.force, .for_group = is_for_group(context.store_address())});
  if (!context.json) {
    say(context, *store, options, done);
    return Exit::ok;
  }
  JsonObject document;
  document.text("store", *store).number("tasks", done.tasks).number("held", done.held);
  if (!done.kept_aside.empty()) document.text("kept_aside", done.kept_aside);
  if (done.made_at) document.text("made_at", iso8601(*done.made_at));
  context.print_json(document.str());
  return Exit::ok;
}

}  // namespace

void add_restore(CLI::App& parent, Context& context) {
  auto options = std::make_shared<RestoreOptions>();
  CLI::App* command = parent.add_subcommand(
      "restore", "Put a backup in the place of the store; unfinished tasks are held");
  command->add_option("FILE", options->file, "The backup")->required()->type_name("FILE");
  command->add_flag("--force", options->force, "Replace a store that can be used, and keep it");
  chosen(*command, context, options, run_restore);
}

}  // namespace holdfast::cli
