#include "server/shown_report.hpp"

#include "documents/json.hpp"

namespace holdfast::server {

namespace {

template <class Entry>
std::size_t cut(std::vector<Entry>& list, std::size_t most) {
  if (list.size() <= most) return 0;
  const auto left_out = list.size() - most;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
  return left_out;
}

}  // namespace

std::string shown_report(RecoveryReport report, std::size_t most_tasks) {
  JsonObject left_out;
  left_out.number("tasks_left_out", cut(report.tasks, most_tasks))
      .number("dead_workers_left_out", cut(report.dead_workers, longest_list_in_report))
      .number("errors_left_out", cut(report.errors, longest_list_in_report));
  if (report.start_up)
    left_out.number("losses_left_out", cut(report.start_up->losses, longest_list_in_report));
  auto more = left_out.str();
  more.front() = ',';
  auto document = to_json(report);
  document.pop_back();
  return document + more;
}

}  // namespace holdfast::server
