#include "contract/metrics_history_contract.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {

using testing::ElementsAre;
using testing::IsEmpty;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MetricsHistoryContract);

std::vector<std::string> MetricsHistoryContract::texts(int resolution_s) {
  std::vector<std::string> found;
  for (const auto& point : history().read(resolution_s, WallTime{}, second(1'000'000)))
    found.push_back(point.text);
  return found;
}

TEST_P(MetricsHistoryContract, PointsComeBackInTheOrderOfTime) {
  const HistoryPoint points[] = {{1, second(2), "b|1"}, {1, second(1), "a"}, {60, second(0), "m"}};
  history().keep(points, {});
  EXPECT_THAT(texts(1), ElementsAre("a", "b|1"));
  EXPECT_THAT(texts(60), ElementsAre("m"));
  EXPECT_THAT(texts(3'600), IsEmpty());
  const auto read = history().read(1, second(1), second(2));
  ASSERT_EQ(read.size(), 1u) << "the end is not included";
  EXPECT_EQ(read[0].at, second(1));
  EXPECT_EQ(read[0].resolution_s, 1);
}

TEST_P(MetricsHistoryContract, TheFirstPointOfATimeStaysWhoeverWroteIt) {
  history().keep(std::array{HistoryPoint{1, second(1), "first"}}, {});
  other().metrics_history()->keep(
      std::array{HistoryPoint{1, second(1), "second"}, HistoryPoint{1, second(2), "new"}}, {});
  EXPECT_THAT(texts(1), ElementsAre("first", "new"));
  reopen();
  EXPECT_THAT(texts(1), ElementsAre("first", "new"));
}

TEST_P(MetricsHistoryContract, ForgetsWhatIsTooOldForItsResolution) {
  const HistoryPoint points[] = {
      {1, second(0), "a"}, {1, second(60), "b"}, {60, second(0), "m"}, {60, second(60), "n"}};
  history().keep(points, {});
  history().keep({}, std::array{HistoryEnd{1, second(60)}, HistoryEnd{60, second(0)}});
  EXPECT_THAT(texts(1), ElementsAre("b"));
  EXPECT_THAT(texts(60), ElementsAre("m", "n"));
}

}  // namespace holdfast::test
