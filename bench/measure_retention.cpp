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

constexpr int batch = 1'000;
constexpr int most_waiting = 20'000;
constexpr int slices = 5;

double megabytes(const std::filesystem::path& file) {
  std::error_code gone;
  auto size = std::filesystem::file_size(file, gone);
  return gone ? 0 : static_cast<double>(size) / 1e6;
}

/// A store that is used without a pause, and how large it ever was.
struct Course {
  std::vector<double> rates{};  ///< tasks a second, in each slice
  double largest_file = 0;
  double largest_wal = 0;
};

Course run_through(const Plan& plan, int total, std::int64_t budget) {
  Course course;
  Scratch scratch{plan.folder};
  Board board{scratch.board()};
  Tasks tasks{open_store(scratch, plan.durability)};
  const Inspector inspector{tasks.engine()};
  WorkerProcess worker{scratch, WorkerRole{.durability = plan.durability, .max_bytes = budget}};
  auto waiting = [&] { return inspector.count({.states = {TaskState::pending}}); };
  for (int slice = 0; slice < slices; ++slice) {
    auto took = seconds([&] {
      for (int i = 0; i < total / slices; i += batch) {
        fill(tasks, batch);
        if (i % (10 * batch) != 0) continue;
        wait_until("the worker keeps up", [&] { return waiting() < most_waiting; });
        course.largest_file = std::max(course.largest_file, megabytes(scratch.database()));
        course.largest_wal = std::max(course.largest_wal, megabytes(scratch.database() + "-wal"));
      }
      if (slice == slices - 1) wait_until("all is done", [&] { return waiting() == 0; });
    });
    course.rates.push_back(total / slices / took);
  }
  return course;
}

}  // namespace

std::vector<Figure> measure_retention(const Plan& plan) {
  const int total = plan.quick ? 20'000 : 5'000'000;
  const std::int64_t budget = plan.quick ? 4'000'000 : 128'000'000;
  auto course = run_through(plan, total, budget);
  Figure rate{"retention_rate",
              fmt::format("enqueue, run, prune; last fifth of {} tasks in a row", total),
              course.rates.back(), "/s"};
  // The limit is reached within the first fifth, so that something is removed in all of the second.
  rate.against = "the second fifth";
  rate.reference = course.rates.at(1);
  rate.ratio = rate.value / rate.reference;
  rate.aim = Aim{Aim::On::ratio, true, 0.8};
  Figure file{"retention_file", fmt::format("file at its largest, limit {} MB", budget / 1'000'000),
              course.largest_file, "MB"};
  file.aim = Aim{Aim::On::value, false, 1.25 * static_cast<double>(budget) / 1e6};
  Figure wal{"retention_wal", "write-ahead log at its largest", course.largest_wal, "MB"};
  wal.aim = Aim{Aim::On::value, false, 64};
  return {rate, file, wal};
}

}  // namespace holdfast::bench
