#pragma once

#include <functional>
#include <string>

#include <holdfast/results.hpp>

#include "cli/context.hpp"
#include "documents/transaction_json.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// The transaction, or an `InvalidRequest` that says there is none.
TransactionRecord require_transaction(const TransactionInspector& inspector, const std::string& id);

/// What is remarkable about it, in a few words.
std::string remark(const TransactionRecord& transaction);

void add_watch_flag(CLI::App& command, bool& watch);
/// Prints once, or with `watch` every second until it is interrupted.
Exit print_and_watch(const Context& context, bool watch, const std::function<void()>& print);

}  // namespace holdfast::cli
