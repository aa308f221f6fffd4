#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <holdfast/broker.hpp>
#include <holdfast/engine.hpp>

#include "files/store_of_users.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Everything that is ever directly in `FILE.holdfast/`, and in `FILE.holdfast/server/`. A file
/// that is not listed here fails a test below: list it, and see that it cannot be planted.
const std::set<std::string> side_files{
    "open.lock", "write.lock", "wake",    "control", "prune.lock",   "recoveries", "suspect",
    "made",      "ballast",    "commits", "mail",    "lost",         "lost.new",   "replace",
    "fresh.db",  "repair.db",  "output",  "server",  "replace.draft"};
const std::set<std::string> side_folders{"workers",   "attempts", "evidence", "messages",
                                         "consumers", "output",   "server"};
const std::set<std::string> server_files{"token",       "tokens",           "lock",
                                         "audit.jsonl", "audit.jsonl.head", "login-link"};

class Planted : public StoreOfUsers {
 protected:
  /// Puts a link to the victim in the place of a file.
  void plant_link(const std::string& path, const std::string& target) {
    fs::remove_all(path);
    fs::create_directories(fs::path{path}.parent_path());
    fs::create_symlink(target, path);
  }
  void plant_foreign_file(const std::string& path) {
    fs::remove_all(path);
    std::ofstream{path} << "0123456789012345678901234567890123456789\n";
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    ASSERT_EQ(::chown(path.c_str(), ada, ada), 0);
  }
  void plant_foreign_folder(const std::string& path) {
    fs::remove_all(path);
    fs::create_directories(path);
    ASSERT_EQ(::chown(path.c_str(), ada, ada), 0);
  }
};

TEST_F(Planted, LinkInThePlaceOfASideFileIsRefused) {
  ok({"task", "add", "mail"});
  for (const auto& name : side_files) {
    SCOPED_TRACE(name);
    const auto target = victim();
    plant_link(side(name), target);
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(side(name)));
    EXPECT_THAT(refusal({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"}),
                HasSubstr(side(name)));
    expect_untouched(target);
    fs::remove(side(name));
  }
  ok({"task", "add", "mail"});
}

TEST_F(Planted, LinkThatLeadsNowhereCreatesNothing) {
  ok({"task", "add", "mail"});
  const auto nowhere = store_.folder() / "nowhere";
  for (const auto& name : side_files) {
    SCOPED_TRACE(name);
    plant_link(side(name), nowhere);
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(side(name)));
    EXPECT_FALSE(fs::exists(nowhere));
    fs::remove(side(name));
  }
}

TEST_F(Planted, LinkInThePlaceOfASideFolderIsRefused) {
  ok({"task", "add", "mail"});
  const auto elsewhere = store_.folder() / "elsewhere";
  fs::create_directory(elsewhere);
  for (const auto& name : side_folders) {
    SCOPED_TRACE(name);
    plant_link(side(name), elsewhere);
    EXPECT_THAT(refusal({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"}),
                HasSubstr(side(name)));
    EXPECT_TRUE(fs::is_empty(elsewhere));
    fs::remove(side(name));
  }
}

TEST_F(Planted, SideFileOfAnotherUserIsRefused) {
  if (!is_root()) return;
  ok({"task", "add", "mail"});
  for (const auto& name : side_files) {
    SCOPED_TRACE(name);
    plant_foreign_file(side(name));
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(side(name)));
    fs::remove(side(name));
  }
  for (const auto& name : side_folders) {
    SCOPED_TRACE(name);
    plant_foreign_folder(side(name));
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(side(name)));
    fs::remove_all(side(name));
  }
}

TEST_F(Planted, SideFolderIsRefusedIfOthersCouldHavePlantedIt) {
  const auto folder = store_.database() + ".holdfast";
  const auto elsewhere = store_.folder() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_symlink(elsewhere, folder);
  EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr("symbolic link"));
  EXPECT_THAT(serve_refusal(), HasSubstr("symbolic link"));
  EXPECT_TRUE(fs::is_empty(elsewhere));
  fs::remove(folder);

  fs::create_directory(folder);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr("mode 0777"));
  EXPECT_THAT(serve_refusal(), HasSubstr("mode 0777"));
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);

  if (is_root()) {
    ASSERT_EQ(::chown(folder.c_str(), ada, ada), 0);
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(std::to_string(ada)));
    EXPECT_THAT(serve_refusal(), HasSubstr(std::to_string(ada)));
    // A group that may write to the folder above is not trusted for that.
    ASSERT_EQ(::chmod(store_.folder().c_str(), 0775), 0);
    ASSERT_EQ(::chown(folder.c_str(), ada, 0), 0);
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr("belongs to another user"));
    EXPECT_THAT(serve_refusal(), HasSubstr("belongs to another user"));
    ASSERT_EQ(::chmod(store_.folder().c_str(), 0700), 0);
    ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
  }
  EXPECT_FALSE(fs::exists(store_.database()));
  ok({"task", "add", "mail"});
}

TEST_F(Planted, LogOfTheDatabaseIsRefused) {
  for (const auto* end : {"-wal", "-shm", "-journal"}) {
    SCOPED_TRACE(end);
    const auto path = store_.database() + end;
    const auto target = victim();
    plant_link(path, target);
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(path));
    expect_untouched(target);
    fs::remove(path);
    if (is_root()) {
      plant_foreign_file(path);
      EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(path));
      fs::remove(path);
    }
  }
}

TEST_F(Planted, NamesWithoutAFolderAreCheckedTheSame) {
  current_folder_ = store_.folder().string();
  address_ = "sqlite:work.db";
  for (const auto& path : {store_.database() + "-wal", side("wake"), side("ballast")}) {
    SCOPED_TRACE(path);
    const auto target = victim();
    plant_link(path, target);
    EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr(fs::path{path}.filename().string()));
    expect_untouched(target);
    fs::remove_all(path);
  }
  umask_ = "000";
  ok({"task", "add", "mail"});
  EXPECT_EQ(status_of(store_.database()).st_mode & 0777u, 0600u);
}

TEST_F(Planted, LinkToTheDatabaseIsFollowedOnlyToAFile) {
  const auto data = store_.folder() / "data";
  fs::create_directory(data);
  fs::create_symlink(data / "real.db", store_.database());
  EXPECT_THAT(refusal({"task", "add", "mail"}), HasSubstr("symbolic link"));
  EXPECT_FALSE(fs::exists(data / "real.db"));
  fs::remove(store_.database());
  address_ = "sqlite:" + (data / "real.db").string();
  ok({"task", "add", "mail"});
  fs::create_symlink(data / "real.db", store_.database());
  address_ = store_.address();
  ok({"task", "add", "mail"});
  EXPECT_FALSE(fs::exists(store_.database() + ".holdfast"));
}

TEST_F(Planted, FilesOfTheServerAreRefused) {
  for (const auto& name : server_files) {
    SCOPED_TRACE(name);
    const auto target = victim();
    plant_link(side("server/" + name), target);
    EXPECT_THAT(serve_refusal(), HasSubstr(side("server/" + name)));
    expect_untouched(target);
    fs::remove(side("server/" + name));
    if (!is_root()) continue;
    plant_foreign_file(side("server/" + name));
    EXPECT_THAT(serve_refusal(), HasSubstr(side("server/" + name)));
    fs::remove(side("server/" + name));
  }
}

TEST_F(Planted, TokenOfAnotherUserGivesNoPower) {
  if (!is_root()) return;
  // As in /tmp: anybody may create files there, and the store is not there yet.
  ASSERT_EQ(::chmod(store_.folder().c_str(), 01777), 0);
  plant_foreign_folder(side("server"));
  plant_foreign_file(side("server/token"));
  ASSERT_EQ(::chown((store_.database() + ".holdfast").c_str(), ada, ada), 0);
  EXPECT_THAT(serve_refusal(), HasSubstr(store_.database() + ".holdfast"));
  EXPECT_THAT(serve_refusal({}, {bob, bob}), HasSubstr(store_.database() + ".holdfast"));
  EXPECT_FALSE(fs::exists(store_.database()));
}

TEST_F(Planted, EverySideFileIsKnown) {
  const auto program = std::string{HOLDFAST_PROGRAM};
  ok({"task", "add", "mail"});
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"});
  {
    auto broker = open_broker(store_.address());
    broker->declare("letters");
    const std::vector<Message> large{{.queue = "letters", .body = std::string(5'000'000, 'x')}};
    broker->publish(large);
    auto consumer = broker->consume({});
  }
  {
    Process server{words({"serve", "--listen", "127.0.0.1:0"})};
    ASSERT_TRUE(eventually([&] { return !server.out().empty(); })) << server.err();
    server.signal(SIGTERM);
    server.wait();
  }
  for (const auto& entry : fs::directory_iterator{side("")}) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(side_files.contains(name) || side_folders.contains(name))
        << name << " is new: add it to the list at the beginning of this file";
  }
  for (const auto& entry : fs::directory_iterator{side("server")})
    EXPECT_TRUE(server_files.contains(entry.path().filename().string()))
        << entry.path() << " is new: add it to the list at the beginning of this file";
  for (const auto* name : {"ballast", "commits", "made", "wake", "mail", "workers"})
    EXPECT_TRUE(fs::exists(side(name))) << name << ": the session was not busy enough";
}

}  // namespace
}  // namespace holdfast::test
