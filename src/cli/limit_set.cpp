#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "cli/limit_text.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct LimitSetOptions {
  LimitName name;
  std::optional<int> max_running;
  std::string rate;
  int burst = 0;
};

Exit run_limit_set(Context& context, const LimitSetOptions& options) {
  Limit limit{options.name.parsed(), options.name.name, options.max_running};
  if (!options.rate.empty()) limit.rate = parse_rate(options.rate);
  if (limit.rate) limit.rate->burst = options.burst;
  validate(limit);
  Limits{context.engine()}.set(limit);
  if (context.json)
    context.print_json(JsonObject{}
                           .text("scope", options.name.scope)
                           .text("name", options.name.name)
                           .text("result", "set")
                           .str());
  else
    context.confirm(fmt::format("the limit of {} {} is set; what is running goes on",
                                options.name.scope, options.name.name));
  return Exit::ok;
}

}  // namespace

void add_limit_set(CLI::App& parent, Context& context) {
  auto options = std::make_shared<LimitSetOptions>();
  CLI::App* command = parent.add_subcommand("set", "Set a limit, in place of the one before");
  add_limit_name(*command, options->name);
  command->add_option("--max-running", options->max_running, "So many may run at once; 0: none")
      ->check(CLI::Range(0, 1'000'000));
  CLI::Option* rate =
      command->add_option("--rate", options->rate, "So many may start in a time (100/1m)")
          ->type_name("RATE");
  command
      ->add_option("--burst", options->burst,
                   "So many may start at once after a pause; default: as many as --rate says")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(rate);
  chosen(*command, context, options, run_limit_set);
}

}  // namespace holdfast::cli
