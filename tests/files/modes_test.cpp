#include <filesystem>
#include <fstream>

#include <holdfast/blobs.hpp>

#include "files/store_of_users.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Of a file or folder; the set-group bit of a folder is inherited, and says nothing.
unsigned mode_of(const std::string& path) { return status_of(path).st_mode & 01777u; }

class Modes : public StoreOfUsers, public testing::WithParamInterface<const char*> {
 protected:
  Modes() { umask_ = GetParam(); }

  void expect_private(const std::string& path) const {
    const bool folder = fs::is_directory(fs::symlink_status(path));
    EXPECT_EQ(mode_of(path), folder ? 0700u : 0600u) << path;
  }
};

INSTANTIATE_TEST_SUITE_P(Umask, Modes, testing::Values("000", "022", "077", "277"),
                         [](const auto& each) { return std::string{each.param}; });

TEST_P(Modes, StoreItsLogAndSideFilesAreForTheOwnerOnly) {
  ok({"task", "add", "mail"});
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"});
  Process worker{words({"worker", "run", "--kind", "mail", "--exec", "true"})};
  ASSERT_TRUE(eventually([&] { return fs::exists(store_.database() + "-shm"); }));
  Process server{words({"serve", "--listen", "127.0.0.1:0"})};
  ASSERT_TRUE(eventually([&] { return !server.out().empty(); })) << server.err();
  for (const auto* end : {"", "-wal", "-shm"}) expect_private(store_.database() + end);
  server.stop();
  worker.stop();
  for (const auto& path : all_in(store_.database() + ".holdfast")) expect_private(path);
}

TEST_P(Modes, BackupIsForTheOwnerOnly) {
  ok({"task", "add", "mail"});
  const auto file = (store_.folder() / "backup.db").string();
  ok({"backup", file});
  expect_private(file);
  ok({"backup", "--force", file});
  expect_private(file);
  for (const auto& entry : fs::directory_iterator{store_.folder()})
    EXPECT_FALSE(entry.path().filename().string().starts_with("backup.db.part")) << entry.path();
}

TEST_P(Modes, RestoredStoreIsForTheOwnerOnly) {
  ok({"task", "add", "mail"});
  const auto file = (store_.folder() / "backup.db").string();
  ok({"backup", file});
  address_ = "sqlite:" + (store_.folder() / "other.db").string();
  ok({"restore", file});
  expect_private(store_.folder() / "other.db");
}

TEST_P(Modes, EvidenceOfDamageIsForTheOwnerOnly) {
  const std::vector<std::string> work{"worker",        "run",    "--kind", "mail",
                                      "--until-empty", "--exec", "true"};
  ok({"task", "add", "mail"});
  ok(work);
  std::fstream{store_.database(), std::ios::in | std::ios::out | std::ios::binary}
      << std::string(100, '\0');
  const auto done = cli(work);
  ASSERT_TRUE(fs::exists(side("evidence"))) << done.out << done.err;
  for (const auto& path : all_in(store_.database() + ".holdfast")) expect_private(path);
  for (const auto* end : {"", "-wal", "-shm"}) expect_private(store_.database() + end);
}

TEST_P(Modes, StateFolderOfTheServerIsForTheOwnerOnly) {
  const auto state = store_.folder() / "new" / "state";
  Process server{words({"serve", "--listen", "127.0.0.1:0", "--state", state})};
  ASSERT_TRUE(eventually([&] { return !server.out().empty(); })) << server.err();
  server.stop();
  for (const auto& path : all_in(store_.folder() / "new")) expect_private(path);
}

TEST_P(Modes, UsersAreForTheOwnerOnly) {
  const auto file = (store_.folder() / "users").string();
  for (int round = 0; round < 2; ++round) {
    ok({"user", "add", "ada", "--role", "admin", "--users", file});
    expect_private(file);
  }
}

/// Sets the umask of this process while it lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_{::umask(mask)} {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

TEST(BlobModes, FolderThatWasThereKeepsItsMode) {
  TempStore place;
  const Umask everything{0};
  const auto folder = (place.folder() / "blobs").string();
  fs::create_directory(folder);
  ASSERT_EQ(::chmod(folder.c_str(), 0775), 0);
  auto blobs = open_blobs("dir:" + folder);
  blobs->put("part/key", "content");
  EXPECT_EQ(mode_of(folder), 0775u);
  EXPECT_EQ(mode_of(folder + "/part"), 0700u);
  EXPECT_EQ(mode_of(folder + "/part/key"), 0600u);
}

TEST(BlobModes, FoldersThatItMakesAreForTheOwnerOnly) {
  TempStore place;
  const Umask everything{0};
  const auto folder = (place.folder() / "new" / "blobs").string();
  open_blobs("dir:" + folder)->put("key", "content");
  EXPECT_EQ(mode_of(place.folder() / "new"), 0700u);
  EXPECT_EQ(mode_of(folder), 0700u);
  EXPECT_EQ(mode_of(folder + "/key"), 0600u);
}

class OtherFiles : public StoreOfUsers {};

TEST_F(OtherFiles, BackupDoesNotFollowALink) {
  ok({"task", "add", "mail"});
  const auto target = victim();
  const auto file = (store_.folder() / "backup.db").string();
  fs::create_symlink(target, file);
  EXPECT_THAT(refusal({"backup", file}), HasSubstr("is there already"));
  ok({"backup", "--force", file});
  expect_untouched(target);
  EXPECT_FALSE(fs::is_symlink(file));
  fs::remove(file);
  fs::create_symlink(store_.folder() / "nowhere", file);
  EXPECT_THAT(refusal({"backup", file}), HasSubstr("is there already"));
  EXPECT_FALSE(fs::exists(store_.folder() / "nowhere"));
}

/// Another user can guess the name that the file has until it is whole.
TEST_F(OtherFiles, MetricsAreNotWrittenThroughALink) {
  ok({"task", "add", "mail"});
  const auto target = victim();
  const auto file = (store_.folder() / "worker.prom").string();
  const auto plant = "ln -s " + target + " " + file + ".$$.tmp && exec \"$0\" \"$@\"";
  std::vector<std::string> all{"/bin/sh", "-c", plant};
  for (const auto* word : {HOLDFAST_PROGRAM, "--store"}) all.emplace_back(word);
  for (const auto& word :
       {address_, std::string{"worker"}, std::string{"run"}, std::string{"--kind"},
        std::string{"mail"}, std::string{"--until-empty"}, std::string{"--exec"},
        std::string{"true"}, std::string{"--metrics-file"}, file})
    all.push_back(word);
  const auto done = run(all);
  EXPECT_TRUE(done.ending.ok()) << done.err;
  expect_untouched(target);
  EXPECT_THAT(content_of(file), HasSubstr("holdfast_"));
  // The exporter that reads it is another user.
  EXPECT_EQ(mode_of(file) & 0044u, 0044u);
}

TEST_F(OtherFiles, UsersAreNotWrittenThroughALink) {
  const auto target = victim();
  const auto file = (store_.folder() / "users").string();
  fs::create_symlink(target, file);
  EXPECT_NE(refusal({"user", "add", "ada", "--users", file}), "");
  expect_untouched(target);
}

TEST_F(OtherFiles, WiderModeOfAnEarlierVersionIsToldOrNarrowed) {
  ok({"task", "add", "mail"});
  ASSERT_EQ(::chmod(store_.database().c_str(), 0644), 0);
  ASSERT_EQ(::chmod(side("wake").c_str(), 0644), 0);
  const auto done = cli({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"});
  EXPECT_TRUE(done.ending.ok()) << done.err;
  EXPECT_THAT(done.err, HasSubstr("every user of this machine may read"));
  EXPECT_EQ(mode_of(store_.database()), 0644u);
  EXPECT_EQ(mode_of(side("wake")), 0600u);
}

}  // namespace
}  // namespace holdfast::test
