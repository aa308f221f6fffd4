#include "cli/tx_text.hpp"

#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/task_text.hpp"

namespace holdfast::cli {

TransactionRecord require_transaction(const TransactionInspector& inspector,
                                      const std::string& id) {
  if (auto found = inspector.find(id)) return *found;
  throw InvalidRequest{fmt::format("there is no transaction '{}' in this store", id)};
}

std::string remark(const TransactionRecord& transaction) {
  if (transaction.failures > 0)
    return fmt::format("{} failures, last: {}", transaction.failures, transaction.error);
  if (!transaction.error.empty()) return "waits for: " + transaction.error;
  if (!transaction.reason.empty()) return transaction.reason;
  return transaction.task.cause.empty() ? transaction.task.error : transaction.task.cause;
}

void add_watch_flag(CLI::App& command, bool& watch) {
  command.add_flag("--watch", watch, "Print again every second, until interrupted");
}

Exit print_and_watch(const Context& context, bool watch, const std::function<void()>& print) {
  while (true) {
    if (watch && context.out.interactive && !context.json) context.print("\x1b[H\x1b[2J");
    print();
    if (!watch) return Exit::ok;
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds{1});
  }
}

}  // namespace holdfast::cli
