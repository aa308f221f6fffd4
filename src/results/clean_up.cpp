#include <holdfast/results.hpp>

namespace holdfast::results {

namespace {

constexpr std::string_view before_id = "transaction-";

/// The id in the name of a queue of ours; empty: it is not one.
std::string id_in(std::string_view queue) {
  for (std::string_view after : {"-header", "-payload"})
    if (queue.starts_with(before_id) && queue.ends_with(after) &&
        queue.size() > before_id.size() + after.size())
      return std::string{
          queue.substr(before_id.size(), queue.size() - before_id.size() - after.size())};
  return {};
}

class Endings {
 public:
  explicit Endings(const Engine& engine) : inspector_{engine} {}

  /// How a transaction ended; nothing: it has not, or is none of this store's.
  std::optional<TaskState> of(const std::string& id) {
    auto known = known_.find(id);
    if (known == known_.end()) known = known_.emplace(id, look(id)).first;
    return known->second;
  }

 private:
  std::optional<TaskState> look(const std::string& id) const {
    std::optional<TransactionRecord> found;
    try {
      found = inspector_.find(id);
    } catch (const InvalidRequest&) {
      return {};  // no id of ours
    }
    if (!found || found->machine != machine_name) return {};
    auto state = found->task.state;
    bool ended = state == TaskState::completed || state == TaskState::failed ||
                 state == TaskState::cancelled;
    return ended ? std::optional{state} : std::nullopt;
  }

  TransactionInspector inspector_;
  std::map<std::string, std::optional<TaskState>> known_;
};

}  // namespace

CleanUp clean_up(const Engine& engine, Broker& broker, BlobStore& blobs) {
  Endings endings{engine};
  CleanUp done;
  for (const auto& queue : broker.queues(before_id)) {
    auto id = id_in(queue.name);
    if (!id.empty() && endings.of(id)) done.queues += broker.remove(queue.name);
  }
  for (const auto& blob : blobs.list()) {
    auto slash = blob.key.find('/');
    if (slash == blob.key.npos) continue;
    auto ending = endings.of(blob.key.substr(0, slash));
    if (ending && ending != TaskState::completed) done.blobs += blobs.remove(blob.key);
  }
  return done;
}

}  // namespace holdfast::results
