#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "support/process.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

TEST(Demo, ShowsThatNothingIsLost) {
  auto demo = run({HOLDFAST_PROGRAM, "demo", "--seconds", "12", "--json"});
  ASSERT_EQ(demo.ending.code, 0) << demo.out << demo.err;
  auto verdict = boost::json::parse(demo.out).as_object();
  EXPECT_TRUE(verdict.at("good").as_bool());
  EXPECT_GT(verdict.at("completed").as_int64(), 20);
  EXPECT_GT(verdict.at("kills").as_int64(), 2);
  EXPECT_GT(verdict.at("stale_writes_refused").as_int64(), 0);
  EXPECT_GT(verdict.at("interrupted_attempts").as_int64(), 0);
}

TEST(Demo, TellsPeopleTheVerdict) {
  auto demo = run({HOLDFAST_PROGRAM, "demo", "--seconds", "4", "--workers", "2"});
  EXPECT_EQ(demo.ending.code, 0) << demo.out << demo.err;
  EXPECT_THAT(demo.out, HasSubstr("lost              0"));
  EXPECT_THAT(demo.out, HasSubstr("doubled effects   0"));
}

TEST(Demo, FailsWithAnEngineThatAcceptsStaleWrites) {
  auto demo = run({HOLDFAST_UNGUARDED, "demo", "--seconds", "12", "--json"});
  EXPECT_EQ(demo.ending.code, 1) << demo.out << demo.err;
}

}  // namespace
}  // namespace holdfast::test
