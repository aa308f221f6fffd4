#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include <fmt/format.h>

#include "engines/sqlite/file_lock.hpp"
#include "engines/sqlite/side_files.hpp"
#include "scenario/start_ups.hpp"

namespace holdfast::test {
namespace {

using std::chrono::steady_clock;
using testing::HasSubstr;

class Doctor : public StartUps {
 protected:
  /// A process that was stopped while it was writing.
  class StoppedWriter {
   public:
    explicit StoppedWriter(const std::string& database) {
      auto lock = sqlite::SideFiles{database}.write_lock();
      pid_ = ::fork();
      if (pid_ == 0) {
        sqlite::FairLock held{lock};
        held.acquire();
        ::raise(SIGSTOP);
        ::_exit(0);
      }
      siginfo_t stopped{};
      ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED);
    }
    ~StoppedWriter() {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

   private:
    pid_t pid_ = -1;
  };

  /// A read-only mount of the store's folder, in a namespace of its own.
  Finished on_read_only_disk(const std::string& words) const {
    auto script = fmt::format(
        "set -e; mount --bind \"$1\" \"$1\"; mount -o remount,bind,ro \"$1\"; exec {}", words);
    return run({"/usr/bin/unshare", "--mount", "--map-root-user", "/bin/sh", "-c", script, "sh",
                store_.folder().string(), HOLDFAST_PROGRAM},
               {{"HOLDFAST_STORE", store_.address()}});
  }
};

TEST_F(Doctor, NamesAStoppedWriterAtOnce) {
  add({"mail"});
  StoppedWriter writer{store_.database()};
  auto began = steady_clock::now();
  const std::string out = ok({"doctor"});
  EXPECT_LT(steady_clock::now() - began, std::chrono::seconds{2});
  EXPECT_THAT(out, HasSubstr(fmt::format("kill -CONT {}", writer.pid())));
  EXPECT_THAT(out, HasSubstr("integrity         passed"));
  auto document = json({"doctor"}).at(0);
  EXPECT_EQ(document.at("writing").at(0).at("pid"), writer.pid());
  EXPECT_TRUE(document.at("writing").at(0).at("stopped").as_bool());
  EXPECT_EQ(cli({"task", "list"}).ending.code, 0) << "looking needs no lock";
}

TEST_F(Doctor, NamesAProgramOfTheUserThatWasStoppedInATransaction) {
  add({"mail"});
  const auto pid = ::fork();
  if (pid == 0) {
    sqlite3* db = nullptr;
    sqlite3_open(store_.database().c_str(), &db);
    sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(pid), &stopped, WSTOPPED);
  const std::string out = cli({"doctor"}).out;
  EXPECT_THAT(out, HasSubstr(fmt::format("kill -CONT {}", pid)));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(Doctor, ACommandDoesNotWaitForAStoppedWriterForEver) {
  add({"mail"});
  StoppedWriter writer{store_.database()};
  const Finished finished = cli({"task", "add", "mail"});
  EXPECT_EQ(finished.ending.code, 2);
  EXPECT_THAT(finished.err, HasSubstr(fmt::format("kill -CONT {}", writer.pid())));
}

TEST_F(Doctor, NamesWhoHasTheStoreOpen) {
  add({"mail"});
  auto worker = start({"worker", "run", "--kind", "none", "--exec", "true"});
  EXPECT_TRUE(eventually([&] {
    auto open = json({"doctor"}).at(0).at("open_by").as_array();
    return open.size() == 1 && open.at(0).at("pid") == worker.pid();
  }));
}

TEST_F(Doctor, SeesARowThatIsNotWhatWasWrittenAndTheNextStartTakesCareOfIt) {
  auto id = add({"mail"});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(store_.database().c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "UPDATE holdfast_tasks SET timeout = 5", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  const Finished finished = cli({"doctor"});
  EXPECT_EQ(finished.ending.code, 4);
  EXPECT_THAT(finished.out, HasSubstr("FAILED"));
  EXPECT_THAT(finished.out, HasSubstr(id));
  ok({"queue", "recover"});
  EXPECT_EQ(cli({"doctor", "--full"}).ending.code, 0);
}

TEST_F(Doctor, AStoreOnAReadOnlyDiskCanBeLookedAt) {
  auto id = add({"mail"});
  const Finished list = on_read_only_disk("\"$2\" task list");
  EXPECT_EQ(list.ending.code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr(id));
  const Finished doctor = on_read_only_disk("\"$2\" doctor");
  EXPECT_EQ(doctor.ending.code, 3) << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr("read-only"));
  const Finished another = on_read_only_disk("\"$2\" task add mail");
  EXPECT_EQ(another.ending.code, 3) << another.err;
  EXPECT_THAT(another.err, HasSubstr("cannot be changed by us"));
}

TEST_F(Doctor, DamageInTheLogOfAReadOnlyDiskIsSaid) {
  fill();
  log_.zero(in_the_middle(), 4096);
  const Finished doctor = on_read_only_disk("\"$2\" doctor");
  EXPECT_EQ(doctor.ending.code, 3) << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr("whole commits lie behind it"));
  EXPECT_THAT(doctor.out, HasSubstr("older than what there was"));
}

TEST_F(Doctor, AReadOnlyDiskWithoutALogToo) {
  auto id = add({"mail"});
  ok({"queue", "recover"});
  std::filesystem::remove(store_.database() + "-wal");
  std::filesystem::remove(store_.database() + "-shm");
  const Finished list = on_read_only_disk("\"$2\" task list");
  EXPECT_EQ(list.ending.code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr(id));
}

TEST_F(Doctor, SaysThatAFileMayNotBeRead) {
  add({"mail"});
  std::filesystem::permissions(store_.database(), std::filesystem::perms::none);
  for (const char* command : {"doctor", "task"}) {
    std::vector<std::string> words{"/usr/bin/unshare", "--user", HOLDFAST_PROGRAM, command};
    if (words.back() == "task") words.push_back("list");
    const Finished finished = run(words, {{"HOLDFAST_STORE", store_.address()}});
    EXPECT_EQ(finished.ending.code, 2) << finished.out;
    EXPECT_THAT(finished.err, HasSubstr("cannot be read by us: Permission denied"));
  }
}

TEST_F(Doctor, SaysThatAFolderIsNoStore) {
  std::filesystem::create_directory(store_.database());
  for (const auto& words : {std::vector<std::string>{"doctor"}, {"task", "add", "mail"}}) {
    const Finished finished = cli(words);
    EXPECT_EQ(finished.ending.code, 1) << finished.out;
    EXPECT_THAT(finished.err, HasSubstr("is a folder"));
  }
}

TEST_F(Doctor, SaysThatAFileWithASecondNameIsNotSafe) {
  ASSERT_EQ(cli({"task", "add", "mail"}).ending.code, 0);
  auto second = store_.database() + ".second";
  std::filesystem::create_hard_link(store_.database(), second);
  for (const auto& name : {store_.database(), second}) {
    const Finished finished =
        run({HOLDFAST_PROGRAM, "task", "add", "mail"}, {{"HOLDFAST_STORE", "sqlite:" + name}});
    EXPECT_EQ(finished.ending.code, 4) << finished.out;
    EXPECT_THAT(finished.err, HasSubstr("has 2 names"));
  }
  std::filesystem::remove(second);
  EXPECT_EQ(cli({"task", "add", "mail"}).ending.code, 0);
}

TEST_F(Doctor, IsRefusedWhereThereIsNoStore) { EXPECT_EQ(cli({"doctor"}).ending.code, 1); }

}  // namespace
}  // namespace holdfast::test
