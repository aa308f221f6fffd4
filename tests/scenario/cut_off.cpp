#include "scenario/cut_off.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>

#include <holdfast/holdfast.hpp>

#include "support/oracle.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 90s;

class CutOff {
 public:
  explicit CutOff(const ReachableServer& server) : server_{server} {}

  Process start_worker(const NetworkHost& host, const std::string& journals,
                       std::chrono::milliseconds clock_error) {
    auto command = host.there({CRASH_DRIVER, "work", "store=" + server_.address(host.our_address()),
                               "journals=" + folder(journals), "interval=1000", "detection=300",
                               "crashes=1000"});
    return Process{command, {{"HOLDFAST_WALL_CLOCK_ERROR", std::to_string(clock_error.count())}}};
  }

  std::vector<TaskId> enqueue(int count, int ms) {
    auto finished = run({CRASH_DRIVER, "enqueue", "store=" + server_.here,
                         "journals=" + folder("here"), "print=1", "attempts=1000",
                         "count=" + std::to_string(count), "ms=" + std::to_string(ms)});
    EXPECT_TRUE(finished.ending.ok()) << finished.err;
    std::vector<TaskId> ids;
    std::istringstream lines{finished.out};
    for (std::string line; std::getline(lines, line);) ids.push_back(TaskId::parse(line).value());
    return ids;
  }

  std::optional<JournalLine> find(const std::string& journals, Said said, TaskId task) const {
    for (const auto& line : read_journals(folder(journals)))
      if (line.said == said && line.task == task) return line;
    return {};
  }
  /// Whether it started anything after that.
  bool worked_since(const std::string& journals, std::chrono::microseconds moment) const {
    return std::ranges::any_of(read_journals(folder(journals)), [&](const JournalLine& line) {
      return line.said == Said::started && line.at > moment;
    });
  }
  std::optional<JournalLine> wait_for(const std::string& journals, Said said, TaskId task) const {
    eventually([&] { return find(journals, said, task).has_value(); }, patience);
    return find(journals, said, task);
  }
  std::int64_t unfinished() const {
    return Inspector{engine_}.count({.states = {TaskState::pending, TaskState::running}});
  }
  void expect_clean() const {
    std::vector<JournalLine> all;
    for (const char* journals : {"here", "one", "other"})
      for (const auto& line : read_journals(folder(journals))) all.push_back(line);
    std::ranges::stable_sort(all, {}, &JournalLine::at);
    auto findings = find_defects(all, view_store(engine_), {});
    EXPECT_TRUE(findings.empty()) << to_text(findings);
  }

 private:
  std::string folder(const std::string& name) const {
    std::filesystem::create_directories(folder_.folder() / name);
    return folder_.folder() / name;
  }

  const ReachableServer& server_;
  TempStore folder_;
  Engine engine_ = open(server_.here);
};

}  // namespace

void expect_that_cutting_off_a_worker_does_no_harm(NetworkHost& one, NetworkHost& other,
                                                   const ReachableServer& server) {
  CutOff scene{server};
  auto task = scene.enqueue(1, 8'000).at(0);
  auto victim = scene.start_worker(one, "one", 1h);
  auto first = scene.wait_for("one", Said::recorded, task);
  ASSERT_TRUE(first) << victim.err();
  auto heir = scene.start_worker(other, "other", -1h);
  one.pull_the_cable();

  auto second = scene.wait_for("other", Said::started, task);
  ASSERT_TRUE(second) << heir.err();
  EXPECT_GT(second->token, first->token);
  auto stopped = scene.find("one", Said::returned, task);
  ASSERT_TRUE(stopped) << "it still runs what somebody else has\n" << victim.err();
  EXPECT_EQ(stopped->text, "other");
  EXPECT_LT(stopped->at, second->at);

  one.put_the_cable_back();
  bool back = eventually(
      [&] {
        scene.enqueue(20, 50);
        return scene.worked_since("one", second->at);
      },
      patience);
  EXPECT_TRUE(back) << "it does not go on\n" << victim.err();
  EXPECT_TRUE(eventually([&] { return scene.unfinished() == 0; }, patience));
  EXPECT_TRUE(victim.running()) << victim.err();
  for (auto* worker : {&victim, &heir}) worker->signal(SIGTERM);
  for (auto* worker : {&victim, &heir}) EXPECT_TRUE(worker->wait()) << "hangs";
  scene.expect_clean();
}

}  // namespace holdfast::test
