#include <holdfast/metrics.hpp>

#include <gmock/gmock.h>

#include <thread>

namespace holdfast {
namespace {

using testing::HasSubstr;

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  Metrics metrics;
  metrics.counter("dogs_total", "Dogs that barked.", {{"size", "small"}}).add(3);
  metrics.counter("dogs_total", "Dogs that barked.", {{"size", "large"}}).add();
  auto& lengths = metrics.histogram("walk_seconds", "How long walks took.", {0.5, 60});
  for (double length : {0.25, 0.5, 59.0, 3'600.5}) lengths.observe(length);
  EXPECT_EQ(metrics.text({{"store", "s"}}),
            "# HELP dogs_total Dogs that barked.\n"
            "# TYPE dogs_total counter\n"
            "dogs_total{store=\"s\",size=\"large\"} 1\n"
            "dogs_total{store=\"s\",size=\"small\"} 3\n"
            "# HELP walk_seconds How long walks took.\n"
            "# TYPE walk_seconds histogram\n"
            "walk_seconds_bucket{store=\"s\",le=\"0.5\"} 2\n"
            "walk_seconds_bucket{store=\"s\",le=\"60\"} 3\n"
            "walk_seconds_bucket{store=\"s\",le=\"+Inf\"} 4\n"
            "walk_seconds_sum{store=\"s\"} 3660.25\n"
            "walk_seconds_count{store=\"s\"} 4\n");
}

TEST(Metrics, WithoutLabelsHaveNoBraces) {
  Metrics metrics;
  metrics.counter("cats_total", "Cats.").add(5'000'000'000);
  EXPECT_THAT(metrics.text(), HasSubstr("\ncats_total 5000000000\n"));
}

TEST(Metrics, LabelsCannotForgeALine) {
  Metrics metrics;
  metrics.counter("cats_total", "Cats.", {{"name", "a\"} 1\nb\\"}}).add();
  EXPECT_THAT(metrics.text(), HasSubstr(R"(cats_total{name="a\"} 1\nb\\"} 1)"));
}

TEST(Metrics, LookingUpAgainGivesTheSame) {
  Metrics metrics;
  auto& first = metrics.counter("cats_total", "Cats.");
  for (int i = 0; i < 100; ++i) metrics.counter("cats_total", "", {{"n", std::to_string(i)}});
  EXPECT_EQ(&metrics.counter("cats_total", "Cats."), &first);
}

TEST(Metrics, NothingGetsLostBetweenThreads) {
  constexpr int times = 20'000;
  Metrics metrics;
  auto& counter = metrics.counter("cats_total", "Cats.");
  auto& histogram = metrics.histogram("walks", "Walks.", {1});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < times; ++j) {
          counter.add();
          histogram.observe(2);
        }
      });
  }
  EXPECT_EQ(counter.value(), 4u * times);
  EXPECT_EQ(histogram.counts().at(1), 4u * times);
  EXPECT_DOUBLE_EQ(histogram.sum(), 8.0 * times);
}

}  // namespace
}  // namespace holdfast
