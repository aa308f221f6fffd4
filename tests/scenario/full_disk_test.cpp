#include <string>

#include <gmock/gmock.h>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

/// In a mount namespace of its own: fills a disk of 12 MB with tasks until one is refused, then
/// works them all off on the full disk. Prints what was acknowledged and what was completed.
constexpr const char* script = R"sh(
set -eu
mount -t tmpfs -o size=12m tmpfs "$1"
cd "$1"
payload="{\"x\":\"$(head -c 3000 /dev/zero | tr '\0' x)\"}"

while "$2" task add big "$payload" --count 100 >>ids; do :; done
acknowledged=$(wc -l <ids)
"$2" worker run --kind big --exec true --concurrency 4 --until-empty
echo "acknowledged $acknowledged"
"$2" queue status
"$2" task add big '{}' >/dev/null && echo "has room again"
)sh";

TEST(FullDisk, RefusesNewWorkLosesNothingAndLetsRunningWorkSettle) {
  TempStore store;
  auto done = run({"/usr/bin/unshare", "--mount", "--map-root-user", "/bin/sh", "-c", script, "sh",
                   store.folder().string(), HOLDFAST_PROGRAM},
                  {{"HOLDFAST_STORE", "sqlite:work.db"}});
  EXPECT_TRUE(done.ending.ok()) << done.err;
  EXPECT_THAT(done.err, HasSubstr("almost full"));
  EXPECT_THAT(done.err, HasSubstr("Free some space"));
  auto acknowledged = std::stoi(done.out.substr(done.out.find("acknowledged ") + 13));
  EXPECT_GT(acknowledged, 500);
  EXPECT_THAT(done.out, HasSubstr(std::to_string(acknowledged) + " completed"));
  EXPECT_THAT(done.out, HasSubstr("has room again"));
}

}  // namespace
}  // namespace holdfast::test
