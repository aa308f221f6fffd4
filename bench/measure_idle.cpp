#include "board.hpp"
#include "measures.hpp"
#include "samples.hpp"
#include "tasks.hpp"
#include "waiting.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

namespace {

using std::chrono::milliseconds;

/// Percent of one core that each of `count` workers with nothing to do needs, on the average.
double idle_percent(const Plan& plan, int count, milliseconds time) {
  Scratch scratch{plan.folder};
  Board board{scratch.board()};
  std::vector<WorkerProcess> workers;
  for (int i = 0; i < count; ++i) {
    workers.emplace_back(scratch, WorkerRole{.durability = plan.durability});
    // One after the other, so that no start is counted as a part of the idling.
    wait_until("a worker is ready", [&] { return board->enlisted > i; });
  }
  pass(milliseconds{500});
  auto used = [&] {
    double sum = 0;
    for (const auto& worker : workers) sum += worker.cpu_seconds();
    return sum;
  };
  double before = used();
  auto took = seconds([&] { pass(time); });
  return 100 * (used() - before) / took / count;
}

/// Percent of one core for heartbeats of a worker that runs 1,000 tasks. At the default interval a
/// beat comes every 30 s, too seldom to measure; so it beats `faster` times as often, and what it
/// needs is divided by as much.
double heartbeat_percent(const Plan& plan, milliseconds time) {
  constexpr int held = 1'000;
  const int faster = 60;
  Scratch scratch{plan.folder};
  Board board{scratch.board()};
  Tasks tasks{open_store(scratch, plan.durability)};
  std::vector<NewTask> blocks;
  for (int i = 0; i < held; ++i) blocks.push_back({block_kind, to_payload(Place{i})});
  tasks.enqueue_all(std::move(blocks));
  WorkerRole role{.durability = plan.durability,
                  .concurrency = held,
                  .heartbeat = Settings{}.heartbeat.interval / faster};
  WorkerProcess worker{scratch, role};
  wait_until("1,000 tasks run", [&] {
    for (std::size_t i = 0; i < held; ++i) {
      if (board->slots[i].starts == 0) return false;
    }
    return true;
  });
  pass(milliseconds{500});
  double before = worker.cpu_seconds();
  auto took = seconds([&] { pass(time); });
  return 100 * (worker.cpu_seconds() - before) / took / faster;
}

}  // namespace

std::vector<Figure> measure_idle(const Plan& plan) {
  const milliseconds time{plan.quick ? 500 : 10'000};
  Figure idle{"idle_cpu", "CPU of an idle worker", idle_percent(plan, 1, time), "%"};
  idle.aim = Aim{Aim::On::value, false, 0.5};
  Figure watching{"watch_cpu", "CPU of a worker that watches 10 others",
                  idle_percent(plan, 11, time), "%"};
  watching.aim = Aim{Aim::On::value, false, 1};
  Figure beating{"heartbeat_cpu", "CPU of heartbeats, 1,000 tasks running",
                 heartbeat_percent(plan, time), "%"};
  beating.aim = Aim{Aim::On::value, false, 1};
  return {idle, watching, beating};
}

}  // namespace holdfast::bench
