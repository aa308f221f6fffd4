#include "board.hpp"
#include "measures.hpp"
#include "samples.hpp"
#include "tasks.hpp"
#include "waiting.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

std::vector<Figure> measure_pick_up(const Plan& plan) {
  const int count = plan.quick ? 100 : 2'000;
  Scratch scratch{plan.folder};
  Board board{scratch.board()};
  Tasks tasks{open_store(scratch, plan.durability)};
  WorkerProcess worker{scratch, WorkerRole{.durability = plan.durability}};
  wait_until("the worker is ready", [&] { return board->enlisted > 0; });

  std::vector<double> latencies;
  for (int i = 0; i < count; ++i) {
    pass(std::chrono::milliseconds{5});
    auto asked = monotonic_ns();
    tasks.enqueue(note_kind, Place{i});
    auto& slot = board->slots.at(static_cast<std::size_t>(i));
    wait_until("a task is picked up", [&] { return slot.starts > 0; });
    latencies.push_back(static_cast<double>(slot.began_ns[0] - asked) / 1e6);
  }
  Figure half{"pick_up_p50", "enqueue call to handler start, other process, p50", median(latencies),
              "ms"};
  Figure most{"pick_up_p99", "the same, p99", quantile(latencies, 0.99), "ms"};
  most.aim = Aim{Aim::On::value, false, 5};
  return {half, most};
}

}  // namespace holdfast::bench
