#include <map>

#include <holdfast/results.hpp>

namespace holdfast::results {

namespace {

constexpr std::string_view before_id = "transaction-";
constexpr int a_page = 500;
/// Whoever has been writing a part for so long is dead.
constexpr std::chrono::hours until_abandoned{24};

/// The id in the name of a queue of ours; empty: it is not one.
std::string id_in(std::string_view queue) {
  for (std::string_view after : {"-header", "-payload"})
    if (queue.starts_with(before_id) && queue.ends_with(after) &&
        queue.size() > before_id.size() + after.size())
      return std::string{
          queue.substr(before_id.size(), queue.size() - before_id.size() - after.size())};
  return {};
}

/// Whether a transaction is one of ours, and over.
bool has_ended(const TransactionInspector& inspector, const std::string& id) {
  std::optional<TransactionRecord> found;
  try {
    found = inspector.find(id);
  } catch (const InvalidRequest&) {
    return false;  // no id of ours
  }
  if (!found || found->machine != machine_name) return false;
  auto state = found->task.state;
  return state == TaskState::completed || state == TaskState::failed ||
         state == TaskState::cancelled;
}

}  // namespace

CleanUp clean_up(const Engine& engine, Broker& broker, BlobStore& blobs) {
  const TransactionInspector inspector{engine};
  CleanUp done;
  blobs.remove_unfinished(until_abandoned);
  for (const auto& queue : broker.queues(before_id)) {
    auto id = id_in(queue.name);
    if (!id.empty() && has_ended(inspector, id)) done.queues += broker.remove(queue.name);
  }
  const TransactionFilter unwanted{.machine = machine_name,
                                   .states = {TaskState::failed, TaskState::cancelled}};
  for (int offset = 0;; offset += a_page) {
    auto ended = inspector.list(unwanted, {.limit = a_page, .offset = offset});
    for (const auto& each : ended) {
      auto left = blobs.list(each.id + "/");
      // Somebody may have retried it since.
      if (left.empty() || !has_ended(inspector, each.id)) continue;
      for (const auto& blob : left) done.blobs += blobs.remove(blob.key);
    }
    if (std::ssize(ended) < a_page) return done;
  }
}

}  // namespace holdfast::results
