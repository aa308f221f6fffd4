#include <fmt/format.h>

#include <holdfast/inspector.hpp>

#include "board.hpp"
#include "measures.hpp"
#include "samples.hpp"
#include "tasks.hpp"
#include "waiting.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

namespace {

/// Lets a worker claim so many tasks of the store in `scratch`, and kills it.
void orphan(const Scratch& scratch, const Plan& plan, int count) {
  Board board{scratch.board()};
  auto hoarder = WorkerProcess::hoarder(scratch, plan.durability, count);
  wait_until("everything is claimed", [&] { return board->enlisted > 0; });
  hoarder.kill();
}

struct Recovered {
  double seconds = 0;  ///< from opening the store to the report
  RecoveryReport report{};
};

Recovered recover(const Scratch& scratch, const Plan& plan, int count) {
  Recovered result;
  result.seconds = seconds([&] {
    Inspector inspector{open_store(scratch, plan.durability)};
    result.report = inspector.recover();
  });
  if (result.report.orphans.taken() != count)
    throw std::runtime_error{"recovery did not take back every orphan"};
  return result;
}

std::string thousands(int count) {
  return count % 1'000 == 0 ? fmt::format("{},000", count / 1'000) : fmt::format("{}", count);
}

}  // namespace

std::vector<Figure> measure_recovery(const Plan& plan) {
  const int count = plan.quick ? 2'000 : 100'000;
  Scratch scratch{plan.folder};
  {
    Tasks tasks{open_store(scratch, plan.durability)};
    fill(tasks, count);
  }
  orphan(scratch, plan, count);
  auto recovered = recover(scratch, plan, count);
  Figure figure{"recovery", fmt::format("start-up and recovery of {} orphans", thousands(count)),
                recovered.seconds, "s"};
  figure.aim = Aim{Aim::On::value, false, 5};
  return {figure};
}

std::vector<Figure> measure_start_up(const Plan& plan) {
  constexpr int orphans = 1'000;
  const std::int64_t size = plan.quick ? 4'000'000 : 1'000'000'000;
  const std::string payload = fmt::format(R"({{"text":"{}"}})", std::string(1'000, 'x'));
  Scratch scratch{plan.folder};
  std::int64_t bytes = 0;
  {
    Tasks tasks{open_store(scratch, plan.durability)};
    do {
      tasks.enqueue_all(std::vector<NewTask>(1'000, NewTask{noop_kind, payload}));
      bytes = static_cast<std::int64_t>(std::filesystem::file_size(scratch.database()));
    } while (bytes < size);
  }
  orphan(scratch, plan, orphans);
  auto recovered = recover(scratch, plan, orphans);
  auto what = fmt::format("start-up after a crash, file of {} MB", bytes / 1'000'000);
  Figure whole{"start_up", what, recovered.seconds, "s"};
  whole.aim = Aim{Aim::On::value, false, 30};
  const auto& start_up = recovered.report.start_up;
  if (!start_up || !start_up->integrity.completed)
    throw std::runtime_error{"the start-up did not check the file"};
  Figure check{"start_up_check", "of that: the integrity check",
               std::chrono::duration<double>(start_up->integrity.duration).count(), "s"};
  check.aim = Aim{Aim::On::value, false, 10};
  return {whole, check};
}

}  // namespace holdfast::bench
