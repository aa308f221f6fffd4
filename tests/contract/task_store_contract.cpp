#include "contract/task_store_contract.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TaskStoreContract);

std::vector<TaskId> TaskStoreContract::claimed_ids(const ClaimRequest& request) {
  std::vector<TaskId> ids;
  for (const auto& each : tasks().exchange(Exchange{.claim = request}).claimed)
    ids.push_back(each.lease.id);
  return ids;
}

void TaskStoreContract::make_suspect(TaskId id) {
  auto worker = enlist();
  auto claimed = claim(worker, 1000);
  die_and_be_buried(worker);
  for (const auto& each : claimed) {
    Verdict verdict{.lease = each.lease, .reason = "its worker died", .cause = {}};
    verdict.suspect = each.suspect || each.lease.id == id;
    tasks().reclaim(std::span{&verdict, 1}, report());
  }
}

Settled TaskStoreContract::fail(const Claimed& claimed, const std::string& why) {
  return settle(
      {.lease = claimed.lease, .to = TaskState::failed, .reason = why, .attempt = claimed.attempt});
}

Recorded TaskStoreContract::note(const Claimed& claimed,
                                 std::variant<ProgressNote, LogNote, EffectNote> what) {
  Note written{claimed.lease, std::move(what)};
  return tasks().record(std::span{&written, 1}).at(0);
}

bool TaskStoreContract::woken_by(Wake wanted) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (std::chrono::steady_clock::now() < deadline)
    if (tasks().wait_for_work(Millis{1'000}) == wanted) return true;
  return false;
}

}  // namespace holdfast::test
