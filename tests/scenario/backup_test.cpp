#include <signal.h>

#include <filesystem>
#include <fstream>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CliBackup : public CliScenario {
 protected:
  std::string copy() const { return store_.folder() / "copy.db"; }
  /// Files beside the store whose names have this in them.
  std::vector<std::string> files_with(const std::string& part) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator{store_.folder()})
      if (entry.path().filename().string().find(part) != std::string::npos)
        found.push_back(entry.path().filename());
    return found;
  }
  std::size_t count(const std::string& state) const {
    return json({"task", "list", "--status", state, "--limit", "500"}).size();
  }
  Finished killed_at(const std::string& point, std::vector<std::string> arguments) const {
    std::vector<std::string> words{HOLDFAST_PROGRAM, "--store", store_.address()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run(words, {{"HOLDFAST_KILL_AT", point}});
  }
};

TEST_F(CliBackup, IsTheStoreAtOneMoment) {
  add({"mail", R"({"to":"ada"})"});
  ok({"task", "add", "mail", "--count", "99"});
  const auto made = json({"backup", copy()}).at(0);
  EXPECT_EQ(made.at("tasks"), 100);
  ok({"task", "add", "mail", "--count", "10"});
  const Finished listed = run({HOLDFAST_PROGRAM, "--store", "sqlite:" + copy(), "--json", "task",
                               "list", "--limit", "500"});
  EXPECT_THAT(lines_of(listed.out), SizeIs(100));
  EXPECT_THAT(files_with("part"), IsEmpty());
}

TEST_F(CliBackup, SchedulesOfARestoredStoreWaitForAPerson) {
  ok({"schedule", "add", "nightly", "@daily", "clean"});
  ok({"limit", "set", "queue", "mail", "--max-running", "3"});
  ok({"backup", copy()});
  ok({"schedule", "remove", "nightly"});
  ok({"restore", "--force", copy()});
  EXPECT_EQ(json({"schedule", "list"}).at(0).at("paused"), true);
  EXPECT_THAT(json({"limit", "list"}), SizeIs(1));
  ok({"schedule", "resume", "nightly"});
  EXPECT_EQ(json({"schedule", "list"}).at(0).at("paused"), false);
}

TEST_F(CliBackup, IsMadeWhileWorkersWork) {
  ok({"task", "add", "note", "--count", "400"});
  Process worker = start({"worker", "run", "--kind", "note", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return count("completed") > 0; }));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(json({"backup", "--force", copy()}).at(0).at("tasks"), 400);
  EXPECT_TRUE(worker.running());
  worker.signal(SIGTERM);
  EXPECT_TRUE(worker.wait()->ok());
}

TEST_F(CliBackup, OverwritesNothingUnasked) {
  add({"mail"});
  std::ofstream{copy()} << "precious";
  const Finished refused = cli({"backup", copy()});
  EXPECT_EQ(refused.ending.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(fs::file_size(copy()), 8U);
  ok({"backup", "--force", copy()});
  EXPECT_GT(fs::file_size(copy()), 8U);
  EXPECT_EQ(cli({"backup", "--force", store_.database()}).ending.code, 1);
  EXPECT_EQ(cli({"backup", (store_.folder() / "no" / "where.db").string()}).ending.code, 1);
}

TEST_F(CliBackup, ThatWasKilledHasNoName) {
  add({"mail"});
  EXPECT_EQ(killed_at("backup_before_rename", {"backup", copy()}).ending.signal, SIGKILL);
  EXPECT_FALSE(fs::exists(copy()));
  EXPECT_THAT(files_with("part"), SizeIs(1));
  ok({"backup", copy()});
  EXPECT_THAT(files_with("part"), IsEmpty());
}

TEST_F(CliBackup, RestoringHoldsWhatWasUnfinished) {
  const std::string done = add({"done"});
  ok({"worker", "run", "--kind", "done", "--until-empty", "--exec", "true"});
  const std::string first = add({"mail"});
  const std::string second = add({"mail", "--after", first});
  ok({"backup", copy()});
  const std::string later = add({"mail"});
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"});

  EXPECT_EQ(cli({"restore", copy()}).ending.code, 1) << "there is a store that can be used";
  const auto restored = json({"restore", "--force", copy()}).at(0);
  EXPECT_EQ(restored.at("tasks"), 3);
  EXPECT_EQ(restored.at("held"), 2);
  EXPECT_TRUE(fs::exists(std::string{restored.at("kept_aside").as_string()}));
  EXPECT_EQ(state_of(done), "completed");
  EXPECT_EQ(state_of(first), "held");
  EXPECT_EQ(state_of(second), "held");
  EXPECT_EQ(cli({"task", "show", later}).ending.code, 1);
  EXPECT_THAT(ok({"task", "show", first}), HasSubstr("Restored from a backup of"));

  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"});
  EXPECT_EQ(state_of(first), "held") << "nothing runs without a person's word";
  ok({"task", "retry", "--status", "held", "--yes"});
  EXPECT_EQ(state_of(second), "blocked");
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"});
  EXPECT_EQ(state_of(second), "completed");
}

TEST_F(CliBackup, IsNotRestoredUnderTheFeetOfOthers) {
  add({"mail"});
  ok({"backup", copy()});
  Process worker = start({"worker", "run", "--kind", "other", "--exec", "true"});
  ASSERT_TRUE(eventually([&] { return !json({"worker", "list"}).empty(); }));
  const Finished refused = cli({"restore", "--force", copy()});
  EXPECT_EQ(refused.ending.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("in use"));
  EXPECT_EQ(count("pending"), 1U);
}

TEST_F(CliBackup, ThatIsDamagedIsRefused) {
  ok({"task", "add", "mail", "--count", "50"});
  ok({"backup", copy()});
  {
    std::fstream file{copy(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(3 * 4096);
    file << std::string(4096, '\xff');
  }
  EXPECT_EQ(cli({"restore", "--force", copy()}).ending.code, 4);
  EXPECT_EQ(count("pending"), 50U);
  EXPECT_THAT(files_with("replaced"), IsEmpty());
  std::ofstream{copy()} << "this is no backup";
  EXPECT_NE(cli({"restore", "--force", copy()}).ending.code, 0);
  EXPECT_EQ(count("pending"), 50U);
}

class KilledRestore : public CliBackup, public testing::WithParamInterface<const char*> {};

TEST_P(KilledRestore, LeavesTheOldStoreOrTheNewOne) {
  add({"mail"});
  ok({"backup", copy()});
  add({"mail"});
  EXPECT_EQ(killed_at(GetParam(), {"restore", "--force", copy()}).ending.signal, SIGKILL);
  const auto tasks = json({"task", "list"});
  const bool old = tasks.size() == 2;
  EXPECT_TRUE(old || tasks.size() == 1) << tasks.size() << " tasks";
  EXPECT_EQ(count("held"), old ? 0U : 1U);
  ok({"restore", "--force", copy()});
  EXPECT_EQ(count("held"), 1U);
  EXPECT_THAT(json({"task", "list"}), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(At, KilledRestore,
                         testing::Values("replace_before_intent", "replace_after_intent",
                                         "replace_before_rename", "replace_after_rename"),
                         [](const auto& point) { return std::string{point.param}; });

}  // namespace
}  // namespace holdfast::test
