#include "board.hpp"
#include "measures.hpp"
#include "raw_queue.hpp"
#include "samples.hpp"
#include "tasks.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

namespace {

/// No-op tasks a second that one worker process claims, runs and settles, its start included.
double ours(const Plan& plan, int count) {
  Scratch scratch{plan.folder};
  Board board{scratch.board()};
  {
    Tasks tasks{open_store(scratch, plan.durability)};
    fill(tasks, count);
  }
  WorkerProcess worker{scratch, WorkerRole{.durability = plan.durability, .until_empty = true}};
  worker.wait();
  if (board->completed != count) throw std::runtime_error{"the worker did not complete all tasks"};
  return 1e9 * count / static_cast<double>(board->run_ns);
}

double raw(const Plan& plan, int count, RawQueue::Finish finish) {
  Scratch scratch{plan.folder};
  RawQueue queue{scratch.database(), plan.durability};
  for (int i = 0; i < count; i += 1'000) queue.insert(usual_payload, 1'000);
  int drained = 0;
  auto took = seconds([&] { drained = queue.drain(1'000, finish); });
  if (drained != count) throw std::runtime_error{"the raw loop did not finish all rows"};
  return count / took;
}

}  // namespace

std::vector<Figure> measure_claim(const Plan& plan) {
  const int rounds = plan.quick ? 1 : 7;
  const int count = plan.quick ? 5'000 : 100'000;
  Rounds marking, erasing;
  for (int i = 0; i < rounds; ++i) {
    auto raw_mark = raw(plan, count, RawQueue::Finish::mark);
    auto rate = ours(plan, count);
    auto raw_erase = raw(plan, count, RawQueue::Finish::erase);
    marking.add(rate, raw_mark);
    erasing.add(rate, raw_erase);
  }
  auto against_mark = marking.figure("claim_settle", "claim, run, settle; 1 worker process",
                                     "raw claim + mark done, 1,000 a commit");
  against_mark.aim = Aim{Aim::On::ratio, true, 0.5};
  auto against_erase =
      erasing.figure("claim_settle_vs_delete", "the same", "raw claim + delete, 1,000 a commit");
  return {against_mark, against_erase};
}

}  // namespace holdfast::bench
