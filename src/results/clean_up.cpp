#include <algorithm>

#include <fmt/format.h>

#include "recovery/actors.hpp"
#include "results/leave_queue.hpp"
#include "results/rounds.hpp"
#include "results/tally.hpp"

namespace holdfast::results {

namespace {

constexpr int a_page = 500;
/// Whoever has been writing a part for so long is dead.
constexpr std::chrono::hours until_abandoned{24};

bool has_lines(const TransactionInspector& inspector, const std::string& id) {
  try {
    return !inspector.ledger(id).empty();
  } catch (const LedgerLost&) {
    return true;
  }
}

/// The round that begins if it is ever retried: the next one, if it has anything of this one.
/// Nothing: somebody has retried it already.
std::optional<int> next_round(TransactionInspector& inspector, BlobStore& blobs,
                              const TransactionRecord& ended) {
  const auto known = knowledge_of(ended.data);
  auto round = known.round;
  auto there = blobs.list(ended.id + "/");
  bool any =
      std::ranges::any_of(there, [&](const auto& blob) { return round_of(blob.key) == round; });
  if (!any && !has_lines(inspector, ended.id)) return round;
  ++round;
  if (!inspector.start_over(
          ended.id, to_payload(Knowledge{.round = round, .queue_round = known.queue_round})))
    return {};
  return round;
}

/// One that cannot be read now must not keep the others.
bool remove_queue(Broker& broker, const std::string& queue, const TransactionRecord& ended,
                  std::string& trouble) {
  auto why = fmt::format("its transaction is {}", to_string(ended.task.state));
  try {
    if (!broker.exists(queue)) return false;
    return leave_queue(
        broker, queue, [&](Delivery&) { return std::optional{why}; }, false);
  } catch (const BrokerError& error) {
    trouble = error.what();
    return false;
  }
}

}  // namespace

CleanUp clean_up(const Engine& engine, Broker& broker, BlobStore& blobs) {
  TransactionInspector inspector{engine, std::string{actors::clean_up}};
  CleanUp done;
  std::string trouble;
  blobs.remove_unfinished(until_abandoned);
  inspector.remove_stray_ledgers();
  const TransactionFilter unwanted{.machine = machine_name,
                                   .states = {TaskState::failed, TaskState::cancelled}};
  for (int offset = 0;; offset += a_page) {
    auto page = inspector.list(unwanted, {.limit = a_page, .offset = offset});
    for (const auto& ended : page) {
      auto round = next_round(inspector, blobs, ended);
      if (!round) continue;
      done.blobs += remove_rounds_before(blobs, ended.id, *round);
      // If somebody retries it right now, his transaction finds its queues gone and asks again.
      for (int of = 0; of <= knowledge_of(ended.data).queue_round; ++of)
        for (const auto& queue : {header_queue(ended.id, of), payload_queue(ended.id, of)})
          done.queues += remove_queue(broker, queue, ended, trouble);
    }
    if (std::ssize(page) < a_page) break;
  }
  if (!trouble.empty()) throw BrokerError{trouble};
  return done;
}

}  // namespace holdfast::results
