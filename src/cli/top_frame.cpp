#include "cli/top_frame.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.hpp"
#include "cli/task_text.hpp"
#include "documents/worker_json.hpp"
#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::cli {

namespace {

constexpr TaskState shown_states[] = {TaskState::pending, TaskState::running, TaskState::blocked,
                                      TaskState::held,    TaskState::failed,  TaskState::completed};

std::int64_t total(const TopView& view, TaskState state) {
  std::int64_t sum = 0;
  for (const auto& queue : view.queues) sum += queue.count(state);
  return sum;
}

const QueueStatus* find(const TopView& view, const std::string& queue) {
  const auto found = std::ranges::find(view.queues, queue, &QueueStatus::queue);
  return found == view.queues.end() ? nullptr : &*found;
}

/// Completed tasks are removed at last, so there may be fewer; that is no negative rate.
std::string rate(std::int64_t now, std::int64_t before, Millis time) {
  if (time <= Millis{0}) return "";
  const auto more = static_cast<double>(std::max<std::int64_t>(now - before, 0));
  return fmt::format("{:.1f}", more * 1'000 / static_cast<double>(time.count()));
}

std::string some(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::string_view rest = text; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    lines.emplace_back(line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return lines;
}

std::vector<std::string> head(const TopView& view, const TopView& before,
                              const Terminal& terminal) {
  const auto running = std::ranges::count(view.workers, WorkerState::running, &WorkerStatus::state);
  const auto per_second = rate(total(view, TaskState::completed),
                               total(before, TaskState::completed), view.at - before.at);
  std::vector<std::string> lines{
      painted(terminal, Colour::bold, plain(view.store)) +
          fmt::format("  {}  {}", view.durability, iso8601(view.at)),
      fmt::format("{} pending, {} running, {} failed, {} completed{}; {}; {} took back {}",
                  total(view, TaskState::pending), total(view, TaskState::running),
                  total(view, TaskState::failed), total(view, TaskState::completed),
                  per_second.empty() ? "" : fmt::format(" ({}/s)", per_second),
                  some(running, "worker", "workers"),
                  some(view.totals.recoveries, "recovery", "recoveries"),
                  some(view.totals.orphans.taken(), "task", "tasks"))};
  if (!view.trouble.empty())
    lines.push_back(painted(terminal, Colour::red, "cannot ask the store: " + plain(view.trouble)));
  return lines;
}

std::vector<std::string> queue_lines(const TopView& view, const TopView& before,
                                     const Terminal& terminal) {
  Table table{{{"QUEUE"},
               {"PENDING", true},
               {"RUNNING", true},
               {"BLOCKED", true},
               {"HELD", true},
               {"FAILED", true},
               {"COMPLETED", true},
               {"DONE/S", true},
               {"OLDEST READY"}}};
  for (const auto& queue : view.queues) {
    std::vector<Cell> row{queue.paused ? Cell{queue.queue + " (paused)", Colour::yellow}
                                       : Cell{queue.queue}};
    for (const auto state : shown_states) {
      const auto count = queue.count(state);
      row.emplace_back(std::to_string(count), count == 0 ? Colour::dim : colour_of(state));
    }
    const auto* earlier = find(before, queue.queue);
    row.emplace_back(earlier ? rate(queue.count(TaskState::completed),
                                    earlier->count(TaskState::completed), view.at - before.at)
                             : "");
    row.emplace_back(queue.oldest_pending ? age_text(*queue.oldest_pending, view.at) : "");
    table.add(std::move(row));
  }
  return lines_of(table.text(terminal));
}

std::vector<std::string> worker_lines(const TopView& view, const Terminal& terminal) {
  Table table{{{"WORKER"},
               {"STATE"},
               {"HOST"},
               {"PID", true},
               {"HEARTBEAT"},
               {"HOLDING", true},
               {"THREADS", true},
               {"KINDS"}}};
  for (const auto& worker : view.workers) {
    const bool running = worker.state == WorkerState::running;
    const auto colour = running ? (worker.draining ? Colour::yellow : Colour::green)
                        : worker.state == WorkerState::dead ? Colour::red
                                                            : Colour::dim;
    table.add(
        {worker.id.text(),
         {std::string{standing_of(worker)}, colour},
         worker.host,
         std::to_string(worker.pid),
         age_text(worker.last_heartbeat, view.at),
         running ? std::to_string(worker.holding.size()) : "",
         std::to_string(worker.concurrency),
         worker.cause.empty() ? fmt::format("{}", fmt::join(worker.kinds, ",")) : worker.cause});
  }
  return lines_of(table.text(terminal));
}

std::vector<std::string> recovery_lines(const TopView& view, const Terminal& terminal) {
  Table table{{{"RECOVERY"}, {"STATE"}, {"BEGAN BY"}, {"TOOK", true}, {"TAKEN BACK"}}};
  for (const auto& report : view.reports) {
    const auto missed = report.orphans.not_taken;
    table.add({age_text(report.started_at, view.at), std::string{to_string(report.state)},
               report.trigger, duration_text(report.duration),
               fmt::format("{} of {}{}", some(report.orphans.taken(), "task", "tasks"),
                           some(std::ssize(report.dead_workers), "dead worker", "dead workers"),
                           missed == 0 ? "" : fmt::format("; {} could not be", missed))});
  }
  return lines_of(table.text(terminal));
}

/// The beginning of a section, and how much of it is not shown.
void append(std::string& frame, const std::vector<std::string>& lines, int room) {
  const auto all = static_cast<int>(lines.size());
  const int shown = all <= room ? all : std::max(room - 1, 0);
  for (int i = 0; i < shown; ++i) frame += lines[static_cast<std::size_t>(i)] + '\n';
  if (shown < all && room > 0) frame += fmt::format("... and {} more\n", all - shown);
}

}  // namespace

std::vector<int> allotted(const std::vector<int>& wanted, int room) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return wanted[i]; });
  std::vector<int> given(wanted.size());
  auto left = static_cast<int>(wanted.size());
  for (const auto i : order) {
    given[i] = std::clamp(room / left, 0, wanted[i]);
    room -= given[i];
    --left;
  }
  return given;
}

std::string top_frame(const TopView& view, const TopView& before, const Terminal& terminal,
                      int height) {
  const auto top = head(view, before, terminal);
  std::vector<std::vector<std::string>> sections{queue_lines(view, before, terminal)};
  if (!view.workers.empty()) sections.push_back(worker_lines(view, terminal));
  if (!view.reports.empty()) sections.push_back(recovery_lines(view, terminal));
  std::vector<int> room;
  for (const auto& section : sections) room.push_back(static_cast<int>(section.size()));
  // Each section comes after an empty line.
  if (height > 0)
    room = allotted(room, std::max(height - static_cast<int>(top.size() + sections.size()), 0));
  std::string frame;
  append(frame, top, static_cast<int>(top.size()));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    frame += '\n';
    append(frame, sections[i], room[i]);
  }
  return frame;
}

}  // namespace holdfast::cli
