#include "transactions/take_along.hpp"

#include <string_view>

#include <holdfast/state_machine.hpp>

#include "tasks/engine_parts.hpp"
#include "transactions/held_ledger.hpp"

namespace holdfast {

namespace {

/// Ledgers may be long, so few transactions are in memory at a time.
constexpr std::size_t parcels_at_once = 20;

}  // namespace

void take_transactions_along(const Engine& from, const Engine& to,
                             const std::vector<const TaskRecord*>& tasks) {
  std::vector<TaskId> ids;
  for (const auto* task : tasks)
    if (task->kind == transaction_kind) ids.push_back(task->id);
  if (ids.empty()) return;
  auto& here = from.parts().transactions();
  auto& there = to.parts().transactions();
  auto rows = here.find(ids);
  std::vector<TransactionParcel> parcels;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (rows[i]) {
      auto& parcel = parcels.emplace_back(
          TransactionParcel{ids[i], *rows[i], read_ledger(here, ids[i]), {}, here.moves(ids[i])});
      for (auto& entry : here.outbox(ids[i])) parcel.outbox.push_back(std::move(entry.message));
    }
    if (parcels.size() < parcels_at_once && i + 1 < ids.size()) continue;
    if (!parcels.empty()) there.adopt(parcels);
    parcels.clear();
  }
}

}  // namespace holdfast
