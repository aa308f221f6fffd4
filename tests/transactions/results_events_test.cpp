#include <map>
#include <mutex>

#include <holdfast/metrics.hpp>

#include "documents/transaction_timeline.hpp"
#include "recovery/transaction_notes.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

class ResultsEvents : public ResultsScenario {
 protected:
  ResultsEvents() {
    engine_.events().subscribe([this](const Event& event) {
      const auto* noted = std::get_if<TransactionNoted>(&event);
      if (!noted) return;
      std::lock_guard lock{mutex_};
      notes_.emplace(std::string{name_of(note_of(*noted))}, noted->id + ": " + noted->what);
    });
  }
  results::Options telling() const {
    auto options = this->options();
    options.tell = [engine = engine_](const Event& event) { engine.events().emit(event); };
    return options;
  }
  std::vector<std::string> told(const std::string& name) {
    std::lock_guard lock{mutex_};
    std::vector<std::string> all;
    for (auto [at, end] = notes_.equal_range(name); at != end; ++at) all.push_back(at->second);
    return all;
  }

 private:
  std::mutex mutex_;
  std::multimap<std::string, std::string> notes_;
};

TEST_F(ResultsEvents, TellWhatBecomesOfEachPartAndOfTheWholeOnce) {
  auto metrics = count_events(engine_);
  auto running = run(telling());
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  broker_->publish(part_message("tx", "A", 1, "x"));
  ASSERT_TRUE(eventually([&] { return told("ordinal_stored").size() == 1; }));
  broker_->publish(part_message("tx", "A", 1, "x"));
  ASSERT_TRUE(eventually([&] { return told("ordinal_already_processed").size() == 1; }));
  broker_->publish(header_message("tx", R"([{"name":"A","count":1}])"));
  ASSERT_TRUE(completes("tx"));
  ASSERT_TRUE(eventually([&] { return !told("transaction_complete").empty(); }));
  EXPECT_THAT(told("transactions_checking"),
              ElementsAre(": checking for recoverable transactions"));
  EXPECT_THAT(told("transactions_found"), ElementsAre(": transactions to recover: 0"));
  EXPECT_THAT(told("ordinal_stored"), ElementsAre("tx: ordinal stored: 1 of series 'A'"));
  EXPECT_THAT(told("ordinal_already_processed"),
              ElementsAre("tx: ordinal already processed: 1 of series 'A'"));
  EXPECT_THAT(told("transaction_complete"), ElementsAre("tx: complete"));
  const auto timeline = timeline_of(look_at(inspector_, Inspector{engine_}, "tx").value());
  EXPECT_THAT(timeline, testing::Contains(AllOf(Field(&TimelineEntry::event, "ordinal_stored"),
                                                Field(&TimelineEntry::text, "1 of series 'A'")))
                            .Times(1));
  EXPECT_TRUE(told("transaction_recovered").empty()) << "nothing died";
  auto text = metrics->text();
  EXPECT_THAT(text, HasSubstr("holdfast_result_parts_total{result=\"stored\"} 1"));
  EXPECT_THAT(text, HasSubstr("holdfast_result_parts_total{result=\"already_processed\"} 1"));
  EXPECT_THAT(text, HasSubstr("holdfast_transactions_ended_total{how=\"complete\"} 1"));
}

TEST_F(ResultsEvents, TellOnceThatOneWasCancelledWhoeverEndsIt) {
  start("early");
  ASSERT_TRUE(inspector_.cancel("early"));
  EXPECT_THAT(told("transaction_cancelled"), ElementsAre("early: cancelled"));
  auto running = run(telling());
  for (const auto* id : {"asked", "forced"}) {
    start(id);
    ASSERT_TRUE(gets_to(id, "awaiting_results"));
  }
  ASSERT_TRUE(inspector_.cancel("asked"));
  ASSERT_TRUE(inspector_.cancel("forced", true));
  for (const auto* id : {"asked", "forced"})
    ASSERT_TRUE(
        eventually([&] { return inspector_.find(id)->task.state == TaskState::cancelled; }));
  ASSERT_TRUE(eventually([&] { return told("transaction_cancelled").size() == 3; }));
  running.reset();
  EXPECT_THAT(
      told("transaction_cancelled"),
      testing::UnorderedElementsAre("early: cancelled", "asked: cancelled", "forced: cancelled"));
}

TEST_F(ResultsEvents, TellThatOneWasAbandoned) {
  auto options = telling();
  options.abandon_after = Millis{300};
  auto running = run(options);
  start("tx");
  ASSERT_TRUE(fails("tx"));
  EXPECT_THAT(told("transaction_abandoned"),
              ElementsAre(HasSubstr("tx: abandoned: nothing came for 300 ms")));
}

}  // namespace
}  // namespace holdfast::test
