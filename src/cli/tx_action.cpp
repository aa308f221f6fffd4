#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/tx_text.hpp"
#include "documents/json.hpp"

namespace holdfast::cli {

namespace {

struct TxActionOptions {
  std::vector<std::string> ids;
  bool force = false;
  std::string state;
};

/// Does `act` to each, and says how many changed; none is an error that says why.
Exit each(Context& context, const TxActionOptions& options, const char* verb, const char* past,
          const std::function<bool(TransactionInspector&, const std::string&)>& act) {
  TransactionInspector inspector{context.existing_engine()};
  for (const auto& id : options.ids) require_transaction(inspector, id);
  int changed = 0;
  for (const auto& id : options.ids) changed += act(inspector, id);
  if (changed == 0) {
    const auto first = require_transaction(inspector, options.ids.front());
    throw InvalidRequest{fmt::format("nothing to {}: transaction '{}' is {}", verb, first.id,
                                     to_string(first.task.state))};
  }
  if (context.json)
    context.print_json(JsonObject{}.number("changed", changed).str());
  else
    context.confirm(fmt::format("{} transaction{} {}", changed, changed == 1 ? "" : "s", past));
  return Exit::ok;
}

Exit cancel(Context& context, const TxActionOptions& options) {
  return each(context, options, "cancel", "cancelled, or asked to stop where running",
              [&](TransactionInspector& inspector, const std::string& id) {
                return inspector.cancel(id, options.force);
              });
}

Exit retry(Context& context, const TxActionOptions& options) {
  return each(context, options, "retry", "will run again",
              [&](TransactionInspector& inspector, const std::string& id) {
                return inspector.retry(id, options.state);
              });
}

}  // namespace

void add_tx_cancel(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TxActionOptions>();
  CLI::App* command =
      parent.add_subcommand("cancel", "Call transactions off; running ones are asked");
  command->add_option("ID", options->ids, "Transactions")->required()->type_name("");
  command->add_flag("--force", options->force,
                    "Take running ones from their workers now; whatever those write is refused");
  chosen(*command, context, options, cancel);
}

void add_tx_retry(CLI::App& parent, Context& context) {
  auto options = std::make_shared<TxActionOptions>();
  CLI::App* command =
      parent.add_subcommand("retry", "Run failed, held or cancelled transactions again");
  command->add_option("ID", options->ids, "Transactions")->required()->type_name("");
  command
      ->add_option("--state", options->state,
                   "Begin in this state; default: where it was, or its first one if it had failed")
      ->type_name("STATE");
  chosen(*command, context, options, retry);
}

}  // namespace holdfast::cli
