#include <fmt/format.h>

#include "board.hpp"
#include "measures.hpp"
#include "samples.hpp"
#include "tasks.hpp"
#include "waiting.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

std::vector<Figure> measure_kills(const Plan& plan) {
  const int kills = plan.quick ? 3 : 200;
  Scratch scratch{plan.folder};
  Board board{scratch.board()};
  Tasks tasks{open_store(scratch, plan.durability)};
  std::vector<WorkerProcess> workers;
  auto start_worker = [&] {
    int before = board->enlisted;
    WorkerProcess worker{scratch, WorkerRole{.durability = plan.durability}};
    wait_until("a worker is ready", [&] { return board->enlisted > before; });
    return worker;
  };
  workers.push_back(start_worker());
  workers.push_back(start_worker());

  std::vector<double> latencies;
  for (int i = 0; i < kills; ++i) {
    auto& slot = board->slots.at(static_cast<std::size_t>(i));
    tasks.enqueue(block_kind, Place{i});
    wait_until("a task runs", [&] { return slot.starts > 0; });
    auto& victim = workers[0].pid() == slot.pid ? workers[0] : workers[1];
    auto killed = monotonic_ns();
    victim.kill();
    wait_until("the task runs again", [&] { return slot.starts > 1; });
    latencies.push_back(static_cast<double>(slot.began_ns[1] - killed) / 1e6);
    victim = start_worker();
  }
  auto times = fmt::format("{} kills", kills);
  Figure half{"kill_p50", "kill -9 to running in another process, p50", median(latencies), "ms"};
  half.aim = Aim{Aim::On::value, false, 100};
  Figure most{"kill_p99", "the same, p99 of " + times, quantile(latencies, 0.99), "ms"};
  Figure worst{"kill_max", "the same, worst of " + times, quantile(latencies, 1), "ms"};
  worst.aim = Aim{Aim::On::value, false, 1'000};
  return {half, most, worst};
}

}  // namespace holdfast::bench
