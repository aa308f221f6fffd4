#include <csignal>
#include <fstream>
#include <sstream>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Not;

/// Answers a row at once unless it says `slow`: then it leaves traces until it may end.
constexpr auto program = R"(while read -r line; do
  case "$line" in *slow*)
    echo "begin $$" >>traces
    while [ ! -e go ]; do echo "tick $$" >>traces; sleep 0.05; done ;;
  esac
  echo '{"status":"success","result":1}'
done)";

/// Workers with rows that take as long as the test wants.
class CliBatchWorkers : public CliScenario {
 protected:
  void SetUp() override {
    write("brisk.yaml",
          "queue:\n  heartbeat:\n    intervalSeconds: 1\n    detectionIntervalSeconds: 0.5\n"
          "  worker:\n    drainTimeoutSeconds: 0.2\n");
    write("rows.jsonl", "{\"n\": \"quick\"}\n{\"n\": \"slow\"}\n");
    id_ = lines_of(ok({"batch", "submit", path("rows.jsonl"), "--app", "shop", "--op", "price"}))
              .at(0);
  }
  std::string path(const std::string& name) const { return store_.folder() / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{path(name)} << text;
  }
  Process start_worker(std::vector<std::string> more = {}, const Environment& extra = {}) const {
    std::vector<std::string> words{
        "--config",      path("brisk.yaml"),
        "batch",         "run",
        "--app",         "shop",
        "--op",          "price",
        "--concurrency", "1",
        "--exec",        "cd " + store_.folder().string() + "; " + line_};
    words.insert(words.end(), more.begin(), more.end());
    return start(words, extra);
  }
  std::vector<std::string> traces() const {
    std::ostringstream text;
    text << std::ifstream{path("traces")}.rdbuf();
    return lines_of(text.str());
  }
  std::vector<std::string> begun() const {
    auto lines = traces();
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("begin "); });
    return lines;
  }
  /// The slow row is in progress and goes on.
  testing::AssertionResult goes_on() const {
    const auto before = traces().size();
    if (eventually([&] { return traces().size() > before + 20; }, 60s))
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << traces().size() - before << " more traces";
  }
  std::int64_t rows(const char* which) const {
    return json({"batch", "status", id_}).at(0).at("rows").at(which).as_int64();
  }
  void let_go_and_finish() {
    write("go", "");
    auto worker = start_worker({"--until-empty"});
    EXPECT_TRUE(worker.wait().value_or(Ending{}).ok()) << worker.err();
    EXPECT_EQ(rows("success"), 2);
  }

  /// Nothing of the program of a worker that is gone is seen once another one has begun the row.
  void expect_handed_over(Process& gone) {
    auto next = start_worker();
    ASSERT_TRUE(eventually([&] { return begun().size() == 2; }, 90s)) << next.err();
    ASSERT_TRUE(goes_on());
    write("go", "");
    EXPECT_TRUE(eventually([&] { return rows("success") == 2; }, 60s)) << next.err();
    auto lines = traces();
    const auto first = lines.front().substr(std::string{"begin "}.size());
    lines.erase(lines.begin(), std::ranges::find(lines, begun().at(1)));
    EXPECT_THAT(lines, Not(Contains("tick " + first))) << gone.err();
    next.signal(SIGTERM);
    EXPECT_TRUE(next.wait().value_or(Ending{}).left());
  }

  std::string id_;
  std::string line_ = program;
};

TEST_F(CliBatchWorkers, ARowNeverRunsBesideTheProgramOfAStoppedWorker) {
  auto stopped = start_worker();
  ASSERT_TRUE(eventually([&] { return !begun().empty(); }, 60s)) << stopped.err();
  stopped.stop();
  ASSERT_TRUE(goes_on()) << "its program does not know";
  expect_handed_over(stopped);
}

TEST_F(CliBatchWorkers, ARowNeverRunsBesideTheProgramOfAKilledWorker) {
  auto killed = start_worker();
  ASSERT_TRUE(eventually([&] { return !begun().empty(); }, 60s)) << killed.err();
  killed.kill();
  expect_handed_over(killed);
}

/// Neither the death of its parent nor the end of its group reaches it: only the lock tells.
TEST_F(CliBatchWorkers, ARowNeverRunsBesideAProgramThatLeftTheGroupOfItsKilledWorker) {
  write("program.sh", program);
  line_ = "setsid -w sh program.sh";
  auto killed = start_worker();
  ASSERT_TRUE(eventually([&] { return !begun().empty(); }, 60s)) << killed.err();
  killed.kill();
  ASSERT_TRUE(goes_on()) << "its program does not know";
  expect_handed_over(killed);
}

TEST_F(CliBatchWorkers, ARowWhoseWorkerDiesAtItsLockIsBegunOnce) {
  for (const std::string at : {"row_lock_before_link", "row_lock_after_link"}) {
    auto killed = start_worker({}, {{"HOLDFAST_KILL_AT", at}});
    EXPECT_EQ(killed.wait().value_or(Ending{}).signal, SIGKILL) << at << killed.err();
  }
  let_go_and_finish();
  EXPECT_EQ(begun().size(), 1U);
}

TEST_F(CliBatchWorkers, ABegunRowIsFinishedHoweverShortTheTimeoutForTasksIs) {
  auto worker = start_worker();
  ASSERT_TRUE(eventually([&] { return !begun().empty(); }, 60s)) << worker.err();
  worker.signal(SIGTERM);
  EXPECT_TRUE(goes_on()) << worker.err();
  EXPECT_TRUE(worker.running());
  write("go", "");
  EXPECT_TRUE(worker.wait().value_or(Ending{}).ok()) << worker.err();
  EXPECT_EQ(rows("success"), 2);
  EXPECT_EQ(begun().size(), 1U);
}

TEST_F(CliBatchWorkers, ADrainTimeoutGivesBackARowThatTakesLonger) {
  auto worker = start_worker({"--drain-timeout", "1s"});
  ASSERT_TRUE(eventually([&] { return !begun().empty(); }, 60s)) << worker.err();
  worker.signal(SIGTERM);
  EXPECT_TRUE(worker.wait().value_or(Ending{}).ok()) << worker.err();
  EXPECT_EQ(rows("inprog"), 0);
  EXPECT_EQ(rows("queued"), 1);
  let_go_and_finish();
}

TEST_F(CliBatchWorkers, ASecondSignalGivesABegunRowBack) {
  auto worker = start_worker();
  ASSERT_TRUE(eventually([&] { return !begun().empty(); }, 60s)) << worker.err();
  worker.signal(SIGTERM);
  EXPECT_TRUE(goes_on()) << worker.err();
  worker.signal(SIGTERM);
  EXPECT_TRUE(worker.wait().value_or(Ending{}).ok()) << worker.err();
  EXPECT_EQ(rows("queued"), 1);
  let_go_and_finish();
}

}  // namespace
}  // namespace holdfast::test
