#include "recovery/private_files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <holdfast/error.hpp>

#include "files/store_of_users.hpp"
#include "recovery/private_content.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;

class PrivateFiles : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return place_.folder() / name; }

  TempStore place_;
};

TEST_F(PrivateFiles, PipeIsRefusedAndDoesNotMakeUsWait) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  for (const int flags : {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT})
    EXPECT_THROW(open_private(at("pipe"), flags), ConfigError) << flags;
  EXPECT_FALSE(look_at_private(at("pipe")));
  fs::create_directory(at("folder"));
  EXPECT_THROW(open_private(at("folder"), O_RDONLY), ConfigError);
}

TEST_F(PrivateFiles, FileIsNotTakenForAbsentWhereDescriptorsRunOut) {
  std::ofstream{at("file")} << "content";
  const FileDescriptor highest{::dup(STDIN_FILENO)};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{static_cast<rlim_t>(highest.get()), before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  EXPECT_THROW(look_at_private(at("file")), StoreError);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(look_at_private(at("file")));
  EXPECT_FALSE(look_at_private(at("absent")));
}

TEST_F(PrivateFiles, NothingIsCutOffBeforeItIsChecked) {
  std::ofstream{at("file")} << "content";
  fs::create_symlink(at("file"), at("link"));
  EXPECT_THROW(open_private(at("link"), O_WRONLY | O_CREAT | O_TRUNC), ConfigError);
  if (is_root()) {
    ASSERT_EQ(::chown(at("file").c_str(), ada, ada), 0);
    EXPECT_THROW(open_private(at("file"), O_WRONLY | O_CREAT | O_TRUNC), ConfigError);
    ASSERT_EQ(::chown(at("file").c_str(), 0, 0), 0);
  }
  EXPECT_EQ(content_of(at("file")), "content");
  open_private(at("file"), O_WRONLY | O_CREAT | O_TRUNC);
  EXPECT_EQ(content_of(at("file")), "");
}

TEST_F(PrivateFiles, ErrorsNameOwnerModeAndWhatToDo) {
  fs::create_directory(at("folder"));
  ASSERT_EQ(::chmod(at("folder").c_str(), 0722), 0);
  try {
    make_private_folder(at("folder"));
    FAIL();
  } catch (const ConfigError& error) {
    for (const auto& part : {at("folder"), user_text(::geteuid()), std::string{"mode 0722"},
                             std::string{"chmod go-w"}})
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
  EXPECT_THROW(open_private(at("no/folder"), O_RDWR | O_CREAT), StoreError);
  EXPECT_FALSE(try_open_private(at("no/folder"), O_RDWR | O_CREAT));
}

TEST_F(PrivateFiles, SecondNameInAFolderOfOthersIsRefused) {
  if (!is_root()) return;
  const auto folder = at("folder");
  fs::create_directory(folder);
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  std::ofstream{at("passwords")} << "content";
  fs::create_hard_link(at("passwords"), folder + "/file");
  open_private(folder + "/file", O_RDWR);  // only we could have made it
  ASSERT_EQ(::chown(folder.c_str(), ada, ada), 0);
  EXPECT_THROW(open_private(folder + "/file", O_RDWR | O_TRUNC), ConfigError);
  EXPECT_EQ(content_of(at("passwords")), "content");
}

TEST_F(PrivateFiles, OnlyOneOfManyCreatesAFile) {
  EXPECT_TRUE(create_private(at("file"), FilesFor::owner));
  EXPECT_FALSE(create_private(at("file"), FilesFor::owner));
  fs::create_symlink(at("nowhere"), at("link"));
  EXPECT_THROW(create_private(at("link"), FilesFor::owner), ConfigError);
  EXPECT_TRUE(make_private_folder(at("a/b")));
  EXPECT_FALSE(make_private_folder(at("a/b")));
}

TEST_F(PrivateFiles, WritingReplacesTheWholeFile) {
  write_private_file(at("file"), "one");
  write_private_file(at("file"), std::string(1'000'000, 'x'));
  EXPECT_EQ(read_private_file(at("file")), std::string(1'000'000, 'x'));
  EXPECT_EQ(std::distance(fs::directory_iterator{place_.folder()}, {}), 2);  // and `journals`
  EXPECT_THROW(write_private_file(at("no/folder"), "x"), ConfigError);
  EXPECT_THROW(write_private_file(at("journals"), "x"), ConfigError);
}

TEST_F(PrivateFiles, DeathWhileWritingLeavesTheOldFile) {
  write_private_file(at("file"), "old");
  for (int round = 0; round < 20; ++round) {
    const auto child = ::fork();
    if (child == 0) {
      for (;;) write_private_file(at("file"), std::string(100'000, 'n'));
    }
    ASSERT_TRUE(
        eventually([&] { return std::distance(fs::directory_iterator{place_.folder()}, {}) > 2; }));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto now = read_private_file(at("file"));
    EXPECT_TRUE(now == "old" || now == std::string(100'000, 'n')) << now.size();
    for (const auto& entry : fs::directory_iterator{place_.folder()})
      if (!entry.is_directory()) {
        EXPECT_EQ(status_of(entry.path()).st_mode & 077u, 0u);
      }
    for (const auto& entry : fs::directory_iterator{place_.folder()})
      if (entry.path().filename().string().starts_with("file.")) fs::remove(entry.path());
  }
}

}  // namespace
}  // namespace holdfast::test
