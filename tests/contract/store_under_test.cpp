#include "contract/store_under_test.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

namespace holdfast::test {

StoreContract::StoreContract()
    : store_{GetParam().make()}, first_{store_->open(Settings{}, clock_)} {}

StoreContract::~StoreContract() = default;

void StoreContract::expect_true_counts() {
  constexpr int all = 1'000'000;
  using Counts = std::array<std::int64_t, task_state_count>;
  std::map<std::string, Counts> counted, kept;
  for (const auto& task : engine().admin().search({}, {.limit = all, .longest_text = 1}))
    ++counted[task.queue][static_cast<std::size_t>(task.state)];
  for (const auto& queue : engine().admin().queues()) {
    if (std::ranges::all_of(queue.counts, [](auto tasks) { return tasks == 0; })) continue;
    std::ranges::copy(queue.counts, kept[queue.queue].begin());
  }
  EXPECT_EQ(kept, counted);
}

EngineParts& StoreContract::other() {
  if (!second_) second_ = store_->open(Settings{}, clock_);
  return *second_;
}

void StoreContract::reopen() {
  enlistments_.clear();
  first_.reset();
  second_.reset();
  first_ = store_->open(Settings{}, clock_);
}

TaskId StoreContract::insert(const std::string& kind, TaskOptions options, std::string payload) {
  NewTask task{kind, std::move(payload), std::move(options)};
  return tasks().insert(std::span{&task, 1}).at(0).id;
}

WorkerId StoreContract::enlist(Millis lease) {
  enlistments_.push_back(workers().enlist(WorkerProfile{{}, {"a", "b", "c"}, 4, lease}));
  return enlistments_.back()->id();
}

void StoreContract::starts(WorkerId worker, const Lease& lease) {
  for (const auto& each : enlistments_)
    if (each->id() == worker) each->started(0, lease);
}

void StoreContract::die(WorkerId worker) {
  std::erase_if(enlistments_, [&](const auto& each) { return each->id() == worker; });
}

void StoreContract::die_and_be_buried(WorkerId worker) {
  die(worker);
  for (const auto& sighting : workers().look())
    if (sighting.status.id == worker && workers().bury(sighting, report())) return;
  throw std::runtime_error{"nobody saw that the worker is dead"};
}

ClaimRequest StoreContract::request(WorkerId worker, int limit) {
  return {.worker = worker, .kinds = {"a", "b", "c"}, .limit = limit, .max_suspects = limit};
}

std::vector<Claimed> StoreContract::claim(WorkerId worker, int limit) {
  return tasks().exchange(Exchange{.claim = request(worker, limit)}).claimed;
}

Claimed StoreContract::claim_one(WorkerId worker) {
  auto claimed = claim(worker);
  if (claimed.size() != 1) throw std::runtime_error{"there was nothing to claim"};
  return claimed.front();
}

Settled StoreContract::settle(const Settlement& settlement) {
  return tasks().exchange(Exchange{.settle = {settlement}}).settled.at(0);
}

Settled StoreContract::complete(const Claimed& claimed) {
  return settle({.lease = claimed.lease, .attempt = claimed.attempt});
}

void StoreContract::ask_to_stop(TaskId id) {
  TaskAdmin::Move move{.from = {TaskState::running},
                       .ask_running = true,
                       .actor = "operator",
                       .reason = "no longer wanted"};
  other().admin().move(TaskFilter{.ids = {id}}, move);
}

void StoreContract::cancel(TaskId id) {
  TaskAdmin::Move move{.from = {TaskState::pending, TaskState::blocked, TaskState::failed},
                       .actor = "operator",
                       .reason = "no longer wanted"};
  other().admin().move(TaskFilter{.ids = {id}}, move);
}

TaskRecord StoreContract::record(TaskId id) {
  auto found = engine().admin().search(TaskFilter{.ids = {id}}, TaskPage{});
  if (found.size() != 1) throw std::runtime_error{"no such task: " + id.text()};
  return found.front();
}

}  // namespace holdfast::test
