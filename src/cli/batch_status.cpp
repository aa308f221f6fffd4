#include <signal.h>

#include <chrono>

#include <fmt/format.h>

#include "cli/batch_commands.hpp"
#include "cli/batch_text.hpp"
#include "cli/command.hpp"
#include "cli/interrupts.hpp"
#include "cli/progress_bar.hpp"
#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

struct BatchStatusOptions {
  std::string id;
  bool watch = false;
};

/// How fast rows come to their end, since somebody began to look.
class Pace {
 public:
  std::string text(const BatchRecord& batch) {
    auto done = batch.rows.all() - batch.rows.open();
    auto now = std::chrono::steady_clock::now();
    if (!first_) first_ = {now, done};
    auto seconds = std::chrono::duration<double>(now - first_->at).count();
    auto rate = seconds > 0.5 ? static_cast<double>(done - first_->done) / seconds : 0.0;
    if (rate <= 0) return progress_text(batch);
    auto left =
        Millis{static_cast<std::int64_t>(1000 * static_cast<double>(batch.rows.open()) / rate)};
    return fmt::format("{}, {:.0f} rows/s, {} left", progress_text(batch), rate,
                       duration_text(left));
  }

 private:
  struct Since {
    std::chrono::steady_clock::time_point at;
    std::int64_t done;
  };
  std::optional<Since> first_;
};

void print_batch(const Context& context, const BatchRecord& batch) {
  if (context.json) {
    context.print_json(batch_json(batch));
    return;
  }
  context.print(fmt::format("{}  ", batch.id.text()) +
                painted(context.out, colour_of(batch.status), to_string(batch.status)) + "\n");
  context.say(fmt::format("  {} {}, submitted {}", batch.app, batch.op,
                          age_text(batch.submitted_at, wall_now())));
  context.say(fmt::format("  {}", progress_text(batch)));
  if (batch.done_at)
    context.say(fmt::format("  took {}", duration_text(*batch.done_at - batch.submitted_at)));
  for (const auto& [name, key] : batch.output_files)
    context.say(fmt::format("  output {} ({})", name, key));
}

Exit run_batch_status(Context& context, const BatchStatusOptions& options) {
  auto id = parse_batch_id(options.id);
  Interrupts interrupts;
  std::stop_source stop;
  const InterruptWatch watch{interrupts, [&](int) { stop.request_stop(); }};
  const auto engine = context.existing_engine();
  const Batches batches{engine};
  auto batch = require_batch(batches, id);
  if (options.watch) {
    ProgressBar bar{context.quiet ? Terminal{} : context.err, "processing"};
    Pace pace;
    engine.events().subscribe([](const Event& event) {
      if (auto* trouble = std::get_if<StoreTrouble>(&event))
        fmt::print(stderr, "holdfast: {}; trying again\n", plain(trouble->why));
    });
    batch = batches.wait(
        id,
        [&](const BatchRecord& now) {
          bar.show(now.rows.all() - now.rows.open(), now.rows.all(), pace.text(now));
        },
        stop.get_token());
  }
  print_batch(context, batch);
  return interrupts.first() == 0 ? Exit::ok : Exit::interrupted;
}

}  // namespace

void add_batch_status(CLI::App& parent, Context& context) {
  auto options = std::make_shared<BatchStatusOptions>();
  CLI::App* command = parent.add_subcommand("status", "Show how far a batch is");
  command->add_option("BATCH", options->id, "Its id")->required()->type_name("");
  command->add_flag("--watch", options->watch, "Until it has ended, with its progress");
  chosen(*command, context, options, run_batch_status);
}

}  // namespace holdfast::cli
