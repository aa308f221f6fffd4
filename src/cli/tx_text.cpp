#include "cli/tx_text.hpp"

#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/json.hpp"
#include "cli/task_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

std::string json_time(const std::optional<WallTime>& time) {
  return time ? json_string(iso8601(*time)) : std::string{};
}

}  // namespace

TransactionRecord require_transaction(const TransactionInspector& inspector,
                                      const std::string& id) {
  if (auto found = inspector.find(id)) return *found;
  throw InvalidRequest{fmt::format("there is no transaction '{}' in this store", id)};
}

std::string transaction_json(const TransactionRecord& transaction) {
  return JsonObject{}
      .text("id", transaction.id)
      .text("machine", transaction.machine)
      .text("state", transaction.state)
      .text("task_state", to_string(transaction.task.state))
      .text("reason", transaction.reason)
      .text("error", transaction.error.empty() ? transaction.task.error : transaction.error)
      .number("failures", transaction.failures)
      .number("recoveries", transaction.task.recoveries)
      .text("worker", transaction.task.worker ? transaction.task.worker->text() : "")
      .number("token", transaction.task.token.value)
      .text("created_at", iso8601(transaction.task.created_at))
      .json("began_at", json_time(transaction.began_at))
      .json("entered_at", json_time(transaction.entered_at))
      .json("progressed_at", json_time(transaction.progressed_at))
      .json("finished_at", json_time(transaction.task.finished_at))
      .json("data", json_line(transaction.data))
      .json("input", json_line(transaction.input))
      .str();
}

std::string progress_json(const results::Progress& progress) {
  std::vector<std::string> series;
  for (const auto& each : progress.series)
    series.push_back(JsonObject{}
                         .text("series", each.series)
                         .number("received", each.received)
                         .json("expected", each.expected < 0 ? "" : std::to_string(each.expected))
                         .number("surplus", each.surplus)
                         .text("missing", results::gaps_text(each.missing))
                         .str());
  return JsonObject{}
      .flag("announced", progress.announced)
      .flag("complete", progress.complete())
      .number("resends", progress.resends)
      .json("series", json_list(series))
      .str();
}

std::string remark(const TransactionRecord& transaction) {
  if (!transaction.error.empty())
    return fmt::format("{} failures, last: {}", transaction.failures, transaction.error);
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
