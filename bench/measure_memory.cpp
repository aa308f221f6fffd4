#include "board.hpp"
#include "measures.hpp"
#include "tasks.hpp"
#include "waiting.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

std::vector<Figure> measure_memory(const Plan& plan) {
  const int pending = plan.quick ? 10'000 : 1'000'000;
  Scratch scratch{plan.folder};
  Board board{scratch.board()};
  {
    Tasks tasks{open_store(scratch, plan.durability)};
    fill(tasks, pending);
  }
  // Works for a while, as fast as it can: that is when it needs most.
  WorkerProcess worker{scratch, WorkerRole{.durability = plan.durability}};
  wait_until("the worker is ready", [&] { return board->enlisted > 0; });
  pass(std::chrono::milliseconds{plan.quick ? 100 : 2'000});
  worker.drain();
  Figure figure{"rss",
                plan.quick ? "peak RSS of a worker, 10,000 pending"
                           : "peak RSS of a worker, 1,000,000 pending",
                static_cast<double>(board->peak_bytes) / 1e6, "MB"};
  figure.aim = Aim{Aim::On::value, false, 100};
  return {figure};
}

}  // namespace holdfast::bench
