#include "crash/crash_test.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "recovery/kill_point.hpp"

namespace holdfast::test {

Process CrashTest::start(const std::string& mode, const Words& words, const Environment& extra) {
  Words command{program(), mode, "store=" + address(), "journals=" + store_.journals()};
  command.insert(command.end(), words.begin(), words.end());
  return Process{command, extra};
}

std::string CrashTest::finish(const std::string& mode, const Words& words) {
  auto process = start(mode, words);
  auto ending = process.wait();
  EXPECT_TRUE(ending && ending->ok())
      << mode << " ended badly, signal " << (ending ? ending->signal : -1) << "\n"
      << process.err();
  return process.out();
}

std::vector<TaskId> CrashTest::enqueue(int count, const Words& words) {
  Words all{"count=" + std::to_string(count), "print=1"};
  all.insert(all.end(), words.begin(), words.end());
  std::istringstream lines{finish("enqueue", all)};
  std::vector<TaskId> ids;
  for (std::string line; std::getline(lines, line);) ids.push_back(TaskId::parse(line).value());
  return ids;
}

void CrashTest::work_it_off(const Words& words) {
  Words all{"until_empty=1"};
  all.insert(all.end(), words.begin(), words.end());
  finish("work", all);
}

Engine CrashTest::open_store() const { return open(address()); }

TaskRecord CrashTest::record(TaskId id) const {
  auto task = Inspector{open_store()}.task(id);
  if (!task) throw std::runtime_error{"no such task: " + id.text()};
  return *task;
}

bool CrashTest::was_said(Said said, TaskId task) const {
  auto lines = read_journals(store_.journals());
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.said == said && line.task == task; });
}

bool CrashTest::comes_to(Said said, TaskId task) const {
  return eventually([&] { return was_said(said, task); });
}

std::vector<Finding> CrashTest::ask_oracle(const Expectations& expectations) const {
  return find_defects(said(), view_store(open_store()), expectations);
}

void CrashTest::expect_clean(const Expectations& expectations) const {
  auto findings = ask_oracle(expectations);
  EXPECT_TRUE(findings.empty()) << to_text(findings);
}

std::vector<std::string_view> kill_points_without(std::initializer_list<std::string_view> absent) {
  constexpr std::string_view elsewhere[] = {
      "http",   "blob",   "upload", "step",    "outbox", "message", "batch",    "liveness",
      "broker", "ledger", "audit",  "convert", "unlink", "look",    "row_lock", "upgrade"};
  std::vector<std::string_view> points{kill_point_names.begin(), kill_point_names.end()};
  std::erase_if(points, [&](auto name) {
    auto begins = [&](auto part) { return name.starts_with(part); };
    return std::ranges::any_of(elsewhere, begins) || std::ranges::any_of(absent, begins);
  });
  return points;
}

}  // namespace holdfast::test
