#include <grp.h>
#include <sys/wait.h>

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

/// A folder of the group that consumers are in, and a writer of another user.
class BlobsForGroup : public testing::Test {
 protected:
  BlobsForGroup() {
    fs::create_directory(folder_);
    EXPECT_EQ(::chmod(folder_.c_str(), 02750), 0);
    if (is_root()) {
      EXPECT_EQ(::chown(folder_.c_str(), 0, team), 0);
    }
  }
  gid_t group() const { return is_root() ? team : ::getegid(); }
  void expect_for_group() const {
    for (const auto& path : all_in(folder_)) {
      if (path == folder_) continue;
      const bool is_folder = fs::is_directory(path);
      EXPECT_EQ(mode_of(path), is_folder ? 0750u : 0640u) << path;
      EXPECT_EQ(status_of(path).st_gid, group()) << path;
    }
  }
  TempStore place_;
  std::string folder_ = place_.folder() / "blobs";
};

TEST_F(BlobsForGroup, PartsSideFilesAndFoldersCanBeReadByIt) {
  const Umask nothing{077};
  auto blobs = open_blobs("dir:" + folder_, BlobMode::group);
  blobs->put("tx/A/1.blob", "content");
  expect_for_group();
  if (!is_root()) return;
  ASSERT_EQ(::chmod(place_.folder().c_str(), 0755), 0);
  const auto file = folder_ + "/tx/A/1.blob";
  const auto read = [&](gid_t group_of_reader) {
    return run({"/usr/bin/setpriv", "--reuid=" + std::to_string(bob),
                "--regid=" + std::to_string(group_of_reader), "--clear-groups", "/bin/cat", file});
  };
  EXPECT_EQ(read(team).out, "content");
  EXPECT_NE(read(bob).ending.code, 0) << "others cannot";
}

TEST_F(BlobsForGroup, FoldersThatItMakesAreForTheGroupOfTheFolderAbove) {
  const auto folder = folder_ + "/new/parts";
  open_blobs("dir:" + folder, BlobMode::group)->put("a/key", "content");
  expect_for_group();
}

TEST_F(BlobsForGroup, FolderThatItsGroupCannotReadIsRefused) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  EXPECT_THAT([&] { open_blobs("dir:" + folder_, BlobMode::group); },
              testing::ThrowsMessage<ConfigError>(HasSubstr("chmod g+rx " + folder_)));
}

TEST_F(BlobsForGroup, GroupThatWeCannotGiveIsRefusedAndNotReplacedByAnother) {
  if (!is_root()) return;
  ASSERT_EQ(::chown(folder_.c_str(), ada, team), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0750), 0);
  ASSERT_EQ(::chmod(place_.folder().c_str(), 0755), 0);
  const auto child = ::fork();
  if (child == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(ada) != 0 || ::setuid(ada) != 0) ::_exit(3);
    try {
      open_blobs("dir:" + folder_, BlobMode::group)->put("key", "content");
    } catch (const BlobRefused& refused) {
      ::_exit(std::string_view{refused.what()}.find("chmod g+s") == std::string_view::npos ? 2 : 0);
    }
    ::_exit(1);
  }
  int ending = 0;
  ASSERT_EQ(::waitpid(child, &ending, 0), child);
  EXPECT_EQ(WEXITSTATUS(ending), 0);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BlobsForGroup, ModeIsAnOptionBesideTheBlobsAndAKeyOfTheConfiguration) {
  const auto config = (place_.folder() / "work.yaml").string();
  std::ofstream{config} << "blobs:\n  mode: \"0640\"\n";
  const auto results = [&](const std::vector<std::string>& before,
                           const std::vector<std::string>& after) {
    std::vector<std::string> all{HOLDFAST_PROGRAM, "--store", place_.address()};
    all.insert(all.end(), before.begin(), before.end());
    all.insert(all.end(), {"results", "run", "--until-empty", "--blobs", "dir:" + folder_ + "/x",
                           "--request-queue", "r", "--notify-queue", "n"});
    all.insert(all.end(), after.begin(), after.end());
    fs::remove_all(folder_ + "/x");
    const auto done = run(all);
    EXPECT_TRUE(done.ending.ok()) << done.err;
    return mode_of(folder_ + "/x");
  };
  EXPECT_EQ(results({}, {}), 0700u);
  EXPECT_EQ(results({}, {"--blob-mode", "0640"}), 0750u);
  EXPECT_EQ(results({"--config", config}, {}), 0750u);
  EXPECT_EQ(results({"--config", config}, {"--blob-mode", "0600"}), 0700u);
  const auto check = run({HOLDFAST_PROGRAM, "config", "check", config});
  EXPECT_THAT(check.out, testing::ContainsRegex("blobs.mode +0640"));
  std::ofstream{config} << "blobs:\n  mode: 0644\n";
  EXPECT_THAT(run({HOLDFAST_PROGRAM, "config", "check", config}).err,
              HasSubstr("blobs.mode is '0644'; allowed: one of 0600, 0640"));
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
