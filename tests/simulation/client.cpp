#include "simulation/client.hpp"

#include <array>

#include <holdfast/error.hpp>

namespace holdfast::sim {

namespace {

Nature nature(Dice& dice) {
  constexpr std::array common = {Nature::good,  Nature::good,  Nature::good,
                                 Nature::flaky, Nature::flaky, Nature::sleepy};
  constexpr std::array rare = {Nature::bad, Nature::hopeless, Nature::poison, Nature::poison,
                               Nature::deaf};
  if (dice.percent(60)) return common[static_cast<std::size_t>(dice.below(common.size()))];
  return rare[static_cast<std::size_t>(dice.below(rare.size()))];
}

}  // namespace

void Client::step() {
  if (!unanswered_.empty() && world_.dice.percent(50)) {
    auto again = std::move(unanswered_.back());
    unanswered_.pop_back();
    enqueue(std::move(again));
  } else if (planned_ < most_tasks_) {
    enqueue(make_up());
  }
}

void Client::finish() {
  while (!unanswered_.empty()) {
    auto again = std::move(unanswered_.back());
    unanswered_.pop_back();
    enqueue(std::move(again));
  }
}

std::vector<NewTask> Client::make_up() {
  std::vector<NewTask> tasks{make_up_one()};
  if (world_.dice.percent(30)) tasks.push_back(make_up_one());
  return tasks;
}

NewTask Client::make_up_one() {
  auto& dice = world_.dice;
  NewTask task{task_kind, "{}"};
  task.options.id = world_.new_task_id();
  task.options.queue = dice.percent(75) ? "a" : "b";
  task.options.priority = 2 + dice.below(2);
  task.options.max_attempts = 1 + dice.below(3);
  task.options.backoff = {.first = Millis{1'000}, .longest = Millis{20'000}};
  task.options.timeout = dice.percent(30) ? Millis{20'000} : Millis{600'000};
  if (dice.percent(20)) task.options.delay = Millis{dice.below(40'000)};
  for (const auto& [id, other] : world_.ledger.entries()) {
    if (world_.ledger.in_store(id) && dice.percent(8)) task.options.after.push_back(id);
  }
  auto& entry = world_.ledger.plan(*task.options.id, nature(dice));
  ++planned_;
  world_.trace.say("client makes up t{} of nature {} after {}", entry.number,
                   static_cast<int>(entry.nature), task.options.after.size());
  return task;
}

void Client::enqueue(std::vector<NewTask> tasks) {
  world_.yield();
  bool there = world_.ledger.in_store(*tasks.front().options.id);
  if (world_.fault(10)) {
    world_.trace.say("client: the request is lost");
    unanswered_.push_back(std::move(tasks));
    return;
  }
  try {
    world_.engine.tasks().insert(tasks);
  } catch (const InvalidRequest& refused) {
    // What it was to wait for was called off meanwhile.
    world_.trace.say("client: refused");
    if (there) world_.ledger.find(Defect::repeat_refused, refused.what());
    return;
  }
  world_.trace.say("client: t{} and {} more are in", world_.number(*tasks.front().options.id),
                   tasks.size() - 1);
  world_.ledger.inserted(tasks);
  if (world_.fault(20)) {
    world_.trace.say("client: the reply is lost");
    unanswered_.push_back(std::move(tasks));
  }
}

}  // namespace holdfast::sim
