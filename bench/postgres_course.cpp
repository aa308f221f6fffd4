#include "postgres_course.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>
#include <holdfast/postgres.hpp>

#include "tasks/engine_parts.hpp"

namespace holdfast::bench {

namespace {

constexpr int batch = 1'000;
constexpr int waiting = 20;  ///< batches that are always there to be claimed
constexpr int slices = 10;
const std::string payload =
    R"({"to":"ada@example.org","template":"welcome","locale":"en-GB","account":12345})";

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

double part(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

class Course {
 public:
  explicit Course(const std::string& address) : engine_{open(address)} {
    for (int i = 0; i < waiting; ++i) enqueue();
  }

  /// The median.
  double slice(int number, int steps) {
    std::vector<double> took;
    auto begin = Clock::now();
    for (int i = 0; i < steps; ++i) {
      enqueue();
      took.push_back(step());
      if (i % 5 == 0) parts().admin().prune({.max_finished = 100'000}, 10 * batch);
    }
    std::chrono::duration<double> all = Clock::now() - begin;
    auto upkeep = postgres::upkeep(engine_);
    fmt::print("tenth {:2}: step {:6.1f} ms (p99 {:6.1f} ms), {:6.0f} tasks/s, dead rows {}\n",
               number, part(took, 0.5), part(took, 0.99), steps * batch / all.count(),
               upkeep ? upkeep->dead_rows : 0);
    return part(took, 0.5);
  }

 private:
  EngineParts& parts() { return engine_.parts(); }
  void enqueue() { parts().tasks().insert(std::vector<NewTask>(batch, NewTask{"noop", payload})); }
  double step() {
    Exchange exchange{.claim = ClaimRequest{.worker = worker_->id(), .kinds = {"noop"}}};
    exchange.claim->limit = batch;
    for (const auto& each : held_)
      exchange.settle.push_back({.lease = each.lease, .attempt = each.attempt});
    auto begin = Clock::now();
    held_ = parts().tasks().exchange(exchange).claimed;
    return Milliseconds{Clock::now() - begin}.count();
  }

  Engine engine_;
  std::unique_ptr<Enlistment> worker_ =
      engine_.parts().workers().enlist(WorkerProfile{{}, {"noop"}, batch, Millis{3'600'000}});
  std::vector<Claimed> held_{};
};

}  // namespace

int run_course(const std::string& address, int total) {
  Course course{address};
  std::vector<double> medians;
  for (int i = 1; i <= slices; ++i)
    medians.push_back(course.slice(i, std::max(total / slices / batch, 1)));
  auto ratio = medians.back() / medians[1];
  fmt::print("{} tasks: the last tenth takes {:.2f} times as long as the second\n", total, ratio);
  return ratio > 2 ? 1 : 0;
}

}  // namespace holdfast::bench
