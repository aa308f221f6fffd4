#include <string>

#include <gmock/gmock.h>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// Begins each of the scripts below: a disk of 12 MB in a mount namespace of its own.
constexpr const char* make_disk = R"sh(
set -eu
mkdir "$1/disk"
mount -t tmpfs -o size=12m tmpfs "$1/disk"
cd "$1/disk"
)sh";

/// Adds tasks until one is refused.
const std::string fill_with_tasks = R"sh(
payload="{\"x\":\"$(head -c 3000 /dev/zero | tr '\0' x)\"}"
while "$2" task add big "$payload" --count 100 >>../ids; do :; done
echo "acknowledged $(wc -l <../ids)"
)sh";

/// Works them all off on the full disk.
constexpr const char* work_them_off = R"sh(
"$2" worker run --kind big --exec true --concurrency 4 --until-empty
"$2" queue status
"$2" task add big '{}' >/dev/null && echo "has room again"
)sh";

/// Takes the last byte while a worker is at work, and gives it back when that has noticed.
constexpr const char* take_the_rest_away = R"sh(
wait_until() {
  left=300
  until eval "$1"; do
    left=$((left - 1))
    [ $left -gt 0 ] || { echo "still not: $1" >&2; exit 1; }
    sleep 0.1
  done
}
"$2" worker run --kind big --concurrency 4 --until-empty \
  --exec 'touch ../started; until [ -e ../go ]; do sleep 0.02; done' 2>../log &
wait_until '[ -e ../started ]'
head -c 20000000 /dev/zero >filler 2>/dev/null || true
touch ../go
wait_until 'grep -q "no room left" ../log'
"$2" task add big '{}' || echo "refused with $?"
rm filler
wait $! && echo "worker went on"
"$2" queue status
)sh";

/// One task runs while somebody else fills the disk, and settles on it.
constexpr const char* settle_without_room = R"sh(
"$2" task add last '{}' >/dev/null
"$2" worker run --kind last --until-empty --exec 'head -c 20000000 /dev/zero >filler || true'
echo "ballast $(stat -c %s work.db.holdfast/ballast)"
)sh";

class FullDisk : public testing::Test {
 protected:
  Finished run_script(const std::string& script) const {
    return run({"/usr/bin/unshare", "--mount", "--map-root-user", "/bin/sh", "-c",
                make_disk + script, "sh", store_.folder().string(), HOLDFAST_PROGRAM},
               {{"HOLDFAST_STORE", "sqlite:work.db"}});
  }
  static int acknowledged(const Finished& done) {
    return std::stoi(done.out.substr(done.out.find("acknowledged ") + 13));
  }

  TempStore store_;
};

TEST_F(FullDisk, RefusesNewWorkLosesNothingAndLetsRunningWorkSettle) {
  auto done = run_script(fill_with_tasks + work_them_off);
  ASSERT_TRUE(done.ending.ok()) << done.out << done.err;
  EXPECT_THAT(done.err, HasSubstr("has no room"));
  EXPECT_THAT(done.err, HasSubstr("free some space"));
  EXPECT_GT(acknowledged(done), 500);
  EXPECT_THAT(done.out, HasSubstr(std::to_string(acknowledged(done)) + " completed"));
  EXPECT_THAT(done.out, HasSubstr("has room again"));
}

TEST_F(FullDisk, RunningWorkSettlesAlthoughAnotherProgramTookTheLastByte) {
  auto done = run_script(settle_without_room);
  ASSERT_TRUE(done.ending.ok()) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("ballast 0"));
  EXPECT_THAT(done.out, HasSubstr("1 completed"));
}

TEST_F(FullDisk, WorkerWaitsUntilThereIsRoomAgain) {
  auto done = run_script(fill_with_tasks + take_the_rest_away);
  ASSERT_TRUE(done.ending.ok()) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("refused with 2"));
  EXPECT_THAT(done.out, HasSubstr("worker went on"));
  EXPECT_THAT(done.out, HasSubstr(std::to_string(acknowledged(done)) + " completed"));
}

}  // namespace
}  // namespace holdfast::test
