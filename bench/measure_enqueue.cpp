#include <thread>

#include "measures.hpp"
#include "raw_queue.hpp"
#include "samples.hpp"
#include "tasks.hpp"

namespace holdfast::bench {

namespace {

constexpr int thread_count = 64;

/// Tasks a second, one call for each, from `threads` threads.
double one_by_one(const Plan& plan, int threads, int each) {
  Scratch scratch{plan.folder};
  Tasks tasks{open_store(scratch, plan.durability)};
  tasks.enqueue(NewTask{noop_kind, usual_payload});
  auto enqueue_each = [&] {
    for (int i = 0; i < each; ++i) tasks.enqueue(NewTask{noop_kind, usual_payload});
  };
  auto took = seconds([&] {
    std::vector<std::jthread> running;
    for (int i = 1; i < threads; ++i) running.emplace_back(enqueue_each);
    enqueue_each();
  });
  return threads * each / took;
}

double bulk(const Plan& plan, int count) {
  Scratch scratch{plan.folder};
  Tasks tasks{open_store(scratch, plan.durability)};
  return count / seconds([&] { fill(tasks, count); });
}

double raw(const Plan& plan, int count, int batch) {
  Scratch scratch{plan.folder};
  RawQueue queue{scratch.database(), plan.durability};
  return count / seconds([&] {
           for (int i = 0; i < count; i += batch) queue.insert(usual_payload, batch);
         });
}

}  // namespace

std::vector<Figure> measure_enqueue(const Plan& plan) {
  const int rounds = plan.quick ? 1 : 7;
  const int singles = plan.quick ? 200 : 3'000;
  const int per_thread = plan.quick ? 20 : 300;
  const int many = plan.quick ? 5'000 : 100'000;
  Rounds single, threads, many_at_once;
  for (int i = 0; i < rounds; ++i) {
    auto raw_single = raw(plan, singles, 1);
    auto one_thread = one_by_one(plan, 1, singles);
    single.add(one_thread, raw_single);
    threads.add(one_by_one(plan, thread_count, per_thread), one_thread);
    auto raw_bulk = raw(plan, many, 1'000);
    many_at_once.add(bulk(plan, many), raw_bulk);
  }
  auto of_threads =
      threads.figure("enqueue_64_threads", "enqueue, 64 threads, one by one", "Holdfast, 1 thread");
  of_threads.aim = Aim{Aim::On::ratio, true, 10};
  auto of_bulk =
      many_at_once.figure("enqueue_bulk", "enqueue, 1,000 at once", "raw insert, 1,000 a commit");
  of_bulk.aim = Aim{Aim::On::ratio, true, 0.5};
  return {
      single.figure("enqueue_single", "enqueue, 1 thread, one by one", "raw insert, 1 a commit"),
      of_threads, of_bulk};
}

}  // namespace holdfast::bench
