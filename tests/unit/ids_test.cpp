#include <holdfast/ids.hpp>

#include <gtest/gtest.h>

#include <set>

namespace holdfast {
namespace {

TEST(Ids, TextFormReadsBackAsTheSameId) {
  for (int i = 0; i < 1000; ++i) {
    auto id = TaskId::make();
    ASSERT_EQ(TaskId::parse(id.text()), id);
  }
}

TEST(Ids, EveryIdIsGreaterThanTheOneBefore) {
  auto last = TaskId::make();
  for (int i = 0; i < 100'000; ++i) {
    auto next = TaskId::make();
    ASSERT_LT(last, next);
    ASSERT_LT(last.text(), next.text());
    last = next;
  }
}

TEST(Ids, RefusesWhatIsNotAnId) {
  EXPECT_FALSE(TaskId::parse(""));
  EXPECT_FALSE(TaskId::parse("01ARZ3NDEKTSV4RRFFQ69G5FA"));
  EXPECT_FALSE(TaskId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAVX"));
  EXPECT_FALSE(TaskId::parse("81ARZ3NDEKTSV4RRFFQ69G5FAV"));  // more than 128 bits
  EXPECT_FALSE(TaskId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAU"));  // U is not in the alphabet
}

TEST(Ids, ReadsLowerCase) {
  auto upper = TaskId::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  ASSERT_TRUE(upper);
  EXPECT_EQ(TaskId::parse("01arz3ndektsv4rrffq69g5fav"), upper);
  EXPECT_EQ(upper->text(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

}  // namespace
}  // namespace holdfast
