#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/command.hpp"
#include "cli/limit_text.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

Exit run_limit_remove(Context& context, const LimitName& limit) {
  if (!Limits{context.existing_engine()}.remove(limit.parsed(), limit.name))
    throw InvalidRequest{
        fmt::format("there is no limit of {} '{}'; 'holdfast limit list' lists those there are",
                    limit.scope, limit.name)};
  if (context.json)
    context.print_json(JsonObject{}
                           .text("scope", limit.scope)
                           .text("name", limit.name)
                           .text("result", "removed")
                           .str());
  else
    context.confirm(fmt::format("the limit of {} {} is removed", limit.scope, limit.name));
  return Exit::ok;
}

}  // namespace

void add_limit_remove(CLI::App& parent, Context& context) {
  auto options = std::make_shared<LimitName>();
  CLI::App* command = parent.add_subcommand("remove", "Remove a limit");
  add_limit_name(*command, *options);
  chosen(*command, context, options, run_limit_remove);
}

}  // namespace holdfast::cli
