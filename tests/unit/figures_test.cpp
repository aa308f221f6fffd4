#include "tasks/figures.hpp"

#include <gmock/gmock.h>

#include <holdfast/engine.hpp>
#include <holdfast/worker.hpp>

#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::DoubleNear;
using testing::Optional;

TEST(TimeHistogram, TellsPercentilesWithinAnEighth) {
  for (std::int64_t micros = 1; micros < (std::int64_t{1} << 40); micros = micros * 7 / 5 + 1) {
    TimeHistogram one;
    one.add(microseconds{micros});
    const auto ms = static_cast<double>(micros) / 1'000;
    EXPECT_THAT(one.percentile_ms(0.5), Optional(DoubleNear(ms, ms / 8 + 0.0005))) << micros;
  }
  TimeHistogram many;
  for (int i = 1; i <= 1'000; ++i) many.add(milliseconds{i});
  EXPECT_THAT(many.percentile_ms(0.5), Optional(DoubleNear(500, 63)));
  EXPECT_THAT(many.percentile_ms(0.99), Optional(DoubleNear(990, 124)));
  EXPECT_EQ(TimeHistogram{}.percentile_ms(0.5), std::nullopt);
}

TEST(TimeHistogram, SurvivesItsText) {
  TimeHistogram one;
  for (int i = 0; i < 40; ++i) one.add(microseconds{std::int64_t{1} << i}, i + 1);
  EXPECT_EQ(TimeHistogram::parse(one.text()), one);
  EXPECT_EQ(TimeHistogram::parse("nonsense 1:"), TimeHistogram{});
  const auto coarse = TimeHistogram::parse(one.text(10));
  EXPECT_EQ(coarse.total(), one.total());
  EXPECT_LE(std::ranges::count(one.text(10), ':'), 10);
}

TEST(Figures, SurviveTheirText) {
  Figures figures;
  figures.of("mail") = {.started = 5, .completed = 3, .failed = 1, .retried = 1};
  figures.of("na\"me\\\n").started = 1;
  figures.run.add(milliseconds{3}, 7);
  figures.wait.add(milliseconds{30});
  figures.tells = R"({"state":"running"})";
  EXPECT_EQ(Figures::parse(figures.text()), figures);
  EXPECT_EQ(figures.since(figures), Figures{}) << "what it says of itself is no growth";
  EXPECT_EQ(Figures::parse(""), std::nullopt);
  EXPECT_EQ(Figures::parse(R"({"version":2,"kinds":[]})"), std::nullopt);
}

TEST(Figures, AreBoundedHoweverManyKindsThereAre) {
  Figures figures;
  for (int i = 0; i < 1'000; ++i) ++figures.of("kind-" + std::to_string(i)).completed;
  EXPECT_EQ(figures.kinds.size(), Figures::most_kinds);
  EXPECT_EQ(figures.total().completed, 1'000);
  EXPECT_EQ(figures.of("").completed, 1'000 - 31);
}

TEST(Figures, OfAWorkerThatSaidGoodbyeAreAllThere) {
  test::TempStore place;
  auto engine = open(place.address());
  Tasks tasks{engine};
  tasks.on_json("good", [](Attempt&) -> Outcome { return done; });
  tasks.on_json("bad", [](Attempt&) -> Outcome { return fail("it is bad"); });
  for (int i = 0; i < 20; ++i) tasks.enqueue("good", i);
  for (int i = 0; i < 3; ++i) tasks.enqueue("bad", i);
  Worker worker{tasks, {.until_empty = true}};
  EXPECT_EQ(worker.run().completed, 20);
  const auto told = engine.parts().workers().figures(std::chrono::hours{1});
  ASSERT_EQ(told.size(), 1u);
  auto figures = Figures::parse(told[0].figures);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->of("good"), (Tally{.started = 20, .completed = 20}));
  EXPECT_EQ(figures->of("bad"), (Tally{.started = 3, .failed = 3}));
  EXPECT_EQ(figures->run.total(), 23);
  EXPECT_EQ(figures->wait.total(), 23);
}

}  // namespace
}  // namespace holdfast
