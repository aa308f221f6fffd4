#include <filesystem>
#include <fstream>

#include "files/store_of_users.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The store of a service, in a folder of the service's user, and root who looks after it.
class Owners : public StoreOfUsers {
 protected:
  void SetUp() override {
    if (!is_root()) return;
    ASSERT_EQ(::chown(store_.folder().c_str(), service_.user, service_.group), 0);
  }

  void expect_all_of_the_service() const {
    for (const auto& path : all_in(store_.folder())) {
      if (path.starts_with(store_.journals())) continue;
      EXPECT_EQ(status_of(path).st_uid, service_.user) << path;
      EXPECT_EQ(status_of(path).st_gid, service_.group) << path;
    }
  }

  Identity service_{ada, team};
};

TEST_F(Owners, WhatRootDoesLeavesTheServiceItsFiles) {
  if (!is_root()) return;
  ok({"task", "add", "mail"}, service_);
  ok({"queue", "status"});
  ok({"task", "add", "mail"});
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"});
  ok({"backup", store_.folder() / "backup.db"});
  ok({"doctor"});
  expect_all_of_the_service();
  ok({"task", "add", "mail"}, service_);
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"}, service_);
}

TEST_F(Owners, StoreThatRootBeginsIsForTheOwnerOfTheFolder) {
  if (!is_root()) return;
  ok({"task", "add", "mail"});
  // Killed, it leaves the log and the shared memory too.
  Process worker{words({"worker", "run", "--kind", "mail", "--exec", "true"})};
  ASSERT_TRUE(eventually([&] { return fs::exists(store_.database() + "-shm"); }));
  Process server{words({"serve", "--listen", "127.0.0.1:0"})};
  ASSERT_TRUE(eventually([&] { return !server.out().empty(); })) << server.err();
  worker.kill();
  server.kill();
  expect_all_of_the_service();
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"}, service_);
  Process again{words({"serve", "--listen", "127.0.0.1:0"}, service_)};
  EXPECT_TRUE(eventually([&] { return !again.out().empty(); })) << again.err();
}

TEST_F(Owners, RootKeepsTheOwnerOfAStoreInAFolderOfItsOwn) {
  if (!is_root()) return;
  ASSERT_EQ(::chown(store_.folder().c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(store_.folder().c_str(), 01777), 0);
  ok({"task", "add", "mail"}, service_);
  fs::remove_all(store_.database() + ".holdfast");
  ok({"task", "add", "mail"});
  for (const auto& path : all_in(store_.database() + ".holdfast"))
    EXPECT_EQ(status_of(path).st_uid, service_.user) << path;
  ok({"task", "add", "mail"}, service_);
}

TEST_F(Owners, UserAddKeepsWhoMayReadTheFile) {
  if (!is_root()) return;
  const auto file = (store_.folder() / "users").string();
  const std::vector<std::string> add{"user", "add", "ada", "--role", "admin", "--users", file};
  ok(add);  // new: for the owner of the folder
  EXPECT_EQ(status_of(file).st_uid, service_.user);
  EXPECT_EQ(status_of(file).st_mode & 0777u, 0600u);
  ok(add);
  EXPECT_EQ(status_of(file).st_uid, service_.user);
  ok({"user", "list", "--users", file}, service_);
  // As in /etc: root's, and readable for the group of the service.
  ASSERT_EQ(::chown(store_.folder().c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(store_.folder().c_str(), 0755), 0);
  ASSERT_EQ(::chown(file.c_str(), 0, service_.group), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  ok(add);
  EXPECT_EQ(status_of(file).st_gid, service_.group);
  EXPECT_EQ(status_of(file).st_mode & 0777u, 0640u);
  ok({"user", "list", "--users", file}, service_);
}

TEST_F(Owners, UserAddDoesNotTakeTheFileOfAnotherUser) {
  if (!is_root()) return;
  ASSERT_EQ(::chmod(store_.folder().c_str(), 0777), 0);
  const auto file = (store_.folder() / "users").string();
  ok({"user", "add", "ada", "--users", file}, service_);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const auto before = content_of(file);
  EXPECT_THAT(refusal({"user", "add", "bob", "--users", file}, {bob, bob}),
              HasSubstr(std::to_string(ada)));
  EXPECT_EQ(content_of(file), before);
  EXPECT_EQ(status_of(file).st_uid, service_.user);
}

TEST_F(Owners, StoreOfAnotherUserIsRefused) {
  if (!is_root()) return;
  ASSERT_EQ(::chmod(store_.folder().c_str(), 0777), 0);
  ok({"task", "add", "mail"}, service_);
  ASSERT_EQ(::chmod(store_.database().c_str(), 0666), 0);
  EXPECT_THAT(refusal({"task", "add", "mail"}, {bob, bob}), HasSubstr("access=group"));
  ok({"task", "add", "mail"}, service_);
}

/// Two users of a group, and a folder in which everything belongs to that group.
class ForGroup : public Owners {
 protected:
  void SetUp() override {
    if (!is_root()) return;
    ASSERT_EQ(::chown(store_.folder().c_str(), 0, team), 0);
    ASSERT_EQ(::chmod(store_.folder().c_str(), 02770), 0);
    address_ = store_.address() + "?access=group";
  }
  Identity one_{ada, team}, other_{bob, team};
};

TEST_F(ForGroup, BothUseTheStore) {
  if (!is_root()) return;
  ok({"task", "add", "mail"}, one_);
  ok({"task", "add", "mail"}, other_);
  Process worker{words({"worker", "run", "--kind", "mail", "--exec", "true"}, other_)};
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"}, one_);
  for (const auto* end : {"", "-wal", "-shm"}) {
    const auto status = status_of(store_.database() + end);
    EXPECT_EQ(status.st_mode & 0777u, 0660u) << end;
    EXPECT_EQ(status.st_gid, team) << end;
  }
  worker.kill();
  ok({"task", "add", "mail"}, one_);
  ok({"worker", "run", "--kind", "mail", "--until-empty", "--exec", "true"}, other_);
  ok({"task", "add", "mail"});  // root
  ok({"task", "add", "mail"}, other_);
  for (const auto& path : all_in(store_.database() + ".holdfast")) {
    const auto status = status_of(path);
    EXPECT_EQ(status.st_mode & 0777u, S_ISDIR(status.st_mode) ? 0770u : 0660u) << path;
    EXPECT_EQ(status.st_gid, team) << path;
  }
}

TEST_F(ForGroup, ServerKeepsItsSecretsForItsUser) {
  if (!is_root()) return;
  Process server{words({"serve", "--listen", "127.0.0.1:0"}, one_)};
  ASSERT_TRUE(eventually([&] { return !server.out().empty(); })) << server.err();
  EXPECT_EQ(status_of(side("server")).st_mode & 0777u, 0700u);
  EXPECT_EQ(status_of(side("server/token")).st_mode & 0777u, 0600u);
  ok({"task", "add", "mail"}, other_);
  EXPECT_THAT(serve_refusal({}, other_), HasSubstr("--state"));
}

TEST_F(ForGroup, WithoutTheOptionItIsRefused) {
  if (!is_root()) return;
  ok({"task", "add", "mail"}, one_);
  address_ = store_.address();
  EXPECT_THAT(refusal({"task", "add", "mail"}, other_), HasSubstr("access=group"));
  EXPECT_THAT(refusal({"task", "add", "mail"}, one_), HasSubstr("access=group"));
}

TEST_F(ForGroup, StoreOfOneUserBecomesOneOfTheGroup) {
  if (!is_root()) return;
  address_ = store_.address();
  ok({"task", "add", "mail"}, one_);
  address_ += "?access=group";
  ok({"task", "add", "mail"}, one_);
  ok({"task", "add", "mail"}, other_);
}

TEST_F(ForGroup, OthersAndLinksAreRefusedStill) {
  if (!is_root()) return;
  ok({"task", "add", "mail"}, one_);
  ASSERT_EQ(::chown(side("wake").c_str(), bob, bob), 0);
  EXPECT_THAT(refusal({"task", "add", "mail"}, one_), HasSubstr(side("wake")));
  ASSERT_EQ(::chown(side("wake").c_str(), bob, team), 0);
  ok({"task", "add", "mail"}, one_);
  const auto target = victim();
  fs::remove(side("wake"));
  fs::create_symlink(target, side("wake"));
  EXPECT_THAT(refusal({"task", "add", "mail"}, one_), HasSubstr(side("wake")));
  expect_untouched(target);
}

TEST_F(ForGroup, FolderMustBeOfTheGroup) {
  if (!is_root()) return;
  ASSERT_EQ(::chmod(store_.folder().c_str(), 0770), 0);
  EXPECT_THAT(refusal({"task", "add", "mail"}, one_), HasSubstr("chmod 2770"));
}

}  // namespace
}  // namespace holdfast::test
