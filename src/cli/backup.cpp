#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/sqlite.hpp>

#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/progress_bar.hpp"
#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct BackupOptions {
  std::string file;
  bool force = false;
};

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

Exit run_backup(Context& context, const BackupOptions& options) {
  Interrupts interrupts;
  const Engine engine = context.existing_engine();
  std::stop_source stop;
  const InterruptWatch watch{interrupts, [&](int) { stop.request_stop(); }};
  sqlite::BackupOptions wishes;
  wishes.overwrite = options.force;
  wishes.stop = stop.get_token();
  sqlite::BackupResult made;
  {
    ProgressBar bar{context.err, "copying"};
    wishes.progress = [&](std::int64_t done, std::int64_t total) {
      bar.show(done, total, megabytes(done));
    };
    made = sqlite::backup(engine, options.file, wishes);
  }
  if (!made.completed) throw Interrupted{"interrupted: no backup was made"};
  if (context.json) {
    context.print_json(JsonObject{}
                           .text("file", options.file)
                           .number("bytes", made.bytes)
                           .number("tasks", made.tasks)
                           .number("duration_ms", made.duration.count())
                           .str());
  } else {
    context.confirm(fmt::format("{}: {} tasks, {}, checked, in {}", options.file, made.tasks,
                                megabytes(made.bytes), duration_text(made.duration)));
  }
  return Exit::ok;
}

}  // namespace

void add_backup(CLI::App& parent, Context& context) {
  auto options = std::make_shared<BackupOptions>();
  CLI::App* command =
      parent.add_subcommand("backup", "Copy the store into a file while everybody works");
  command->add_option("FILE", options->file, "The backup")->required()->type_name("FILE");
  command->add_flag("--force", options->force, "Overwrite the file if it is there");
  chosen(*command, context, options, run_backup);
}

}  // namespace holdfast::cli
