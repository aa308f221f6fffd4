#include "results/queues.hpp"

#include <fmt/format.h>

#include "results/tally.hpp"

namespace holdfast::results {

namespace {

std::string queue_name(const std::string& id, const char* what, int round) {
  auto name = fmt::format("transaction-{}-{}", id, what);
  return round == 0 ? name : fmt::format("{}-{}", name, round);
}

}  // namespace

std::string header_queue(const std::string& id, int round) {
  return queue_name(id, "header", round);
}
std::string payload_queue(const std::string& id, int round) {
  return queue_name(id, "payload", round);
}

std::vector<std::string> queues_of(const Transaction& transaction) {
  auto round = knowledge_of(transaction.data_json()).queue_round;
  return {header_queue(transaction.id(), round), payload_queue(transaction.id(), round)};
}

std::vector<std::string> replaced_queues_of(const Transaction& transaction) {
  std::vector<std::string> queues;
  for (int round = 0; round < knowledge_of(transaction.data_json()).queue_round; ++round)
    for (const auto& queue :
         {header_queue(transaction.id(), round), payload_queue(transaction.id(), round)})
      queues.push_back(queue);
  return queues;
}

}  // namespace holdfast::results
