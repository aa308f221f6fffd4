#include <csignal>
#include <random>
#include <set>

#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

/// The program collects results, dies, and is started again. The producer has sent everything
/// beforehand, as one that knows the names of the queues may.
class ResultKills : public ResultsScenario {
 protected:
  static constexpr int parts = 6;

  /// With one thread, transactions are dealt with one after the other, and each point is passed
  /// again in the next run.
  std::vector<std::string> command(int threads = 1) const {
    return command_of(HOLDFAST_PROGRAM, {"--until-empty", "--threads", std::to_string(threads)});
  }
  static std::string content(const std::string& series, int ordinal) {
    auto text = fmt::format("{} {}", series, ordinal);
    // One of them is large enough for a file of its own.
    return ordinal == 2 ? text + std::string(100'000, 'x') : text;
  }
  void produce(const std::string& id) const {
    produce_parts(id);
    produce_header(id);
  }
  void produce_parts(const std::string& id) const {
    broker_->declare(results::header_queue(id));
    broker_->declare(results::payload_queue(id));
    std::vector<Message> messages;
    for (int i = 1; i <= parts; ++i)
      for (const char* series : {"A", "B"})
        messages.push_back(part_message(id, series, i, content(series, i)));
    messages.push_back(part_message(id, "A", 1, content("A", 1)));  // one of them twice
    broker_->publish(messages);
  }
  void produce_header(const std::string& id) const {
    broker_->publish(header_message(
        id, fmt::format(R"([{{"name":"A","count":{0}}},{{"name":"B","count":{0}}}])", parts)));
  }
  /// The points around the moment when a part is there, which differ with where it is kept.
  bool parts_in_files() const { return blobs_address_.starts_with("dir:"); }
  std::string before_part() const {
    return parts_in_files() ? "blob_before_link" : "upload_before_commit";
  }
  std::string after_part() const {
    return parts_in_files() ? "blob_after_link" : "upload_after_commit";
  }
  // Once is enough, unless the server of the store has not noticed yet that the one who was killed
  // before is gone: then what that one had is not for others, and they end without it.
  void die(const std::string& where) const {
    Finished died;
    eventually([&] {
      died = test::run(command(), {{"HOLDFAST_KILL_AT", where}});
      return died.ending.signal == SIGKILL || !died.ending.ok();
    });
    ASSERT_EQ(died.ending.signal, SIGKILL) << where << " was not reached\n" << died.err;
  }
  void finish() const {
    const Inspector inspector{engine_};
    ASSERT_TRUE(eventually([&] {
      auto finished = test::run(command());
      EXPECT_TRUE(finished.ending.ok()) << finished.err;
      return inspector.count({.states = {TaskState::pending, TaskState::running}}) == 0;
    }));
  }
  /// Right state, every part present once, and a notice at least once, always under the same id.
  void expect_whole(const std::vector<std::string>& ids) const {
    std::multiset<std::string> told;
    for (const auto& notice : take("notices", ids.size())) told.insert(notice->id());
    for (const auto& id : ids) {
      auto found = inspector_.find(id).value();
      EXPECT_EQ(found.task.state, TaskState::completed) << id;
      EXPECT_EQ(found.state, "completed") << id;
      EXPECT_GE(told.count(id), 1u) << id;
      EXPECT_EQ(inspector_.ledger(id).size(), 2u * parts) << id;
      EXPECT_EQ(blobs_->list(id + "/").size(), 2u * parts) << id;
      for (int i = 1; i <= parts; ++i)
        for (const char* series : {"A", "B"})
          EXPECT_EQ(blobs_->get(results::blob_key(id, series, i)), content(series, i));
      EXPECT_THAT(inspector_.outbox(id), testing::IsEmpty());
      EXPECT_FALSE(broker_->exists(results::payload_queue(id)));
    }
    EXPECT_LE(messages_in(dead_letter_queue), 0);
  }
  static int times(const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
  }
  std::size_t notices_of(const std::string& id) const {
    std::size_t count = 0;
    for (const auto& notice : take("notices", 1)) count += notice->id() == id;
    return count;
  }
};

class ResultKillPoints : public ResultKills,
                         public testing::WithParamInterface<std::string_view> {};

TEST_P(ResultKillPoints, DyingThereOnceAndAgainLosesNothing) {
  std::vector<std::string> ids{"one", "two", "three"};
  for (const auto& id : ids) {
    start(id);
    produce(id);
  }
  ASSERT_NO_FATAL_FAILURE(die(std::string{GetParam()}));
  ASSERT_NO_FATAL_FAILURE(die(std::string{GetParam()}));
  finish();
  expect_whole(ids);
}

INSTANTIATE_TEST_SUITE_P(Every, ResultKillPoints, testing::ValuesIn(kill_points_of_results()),
                         [](const auto& point) { return std::string{point.param}; });

TEST_F(ResultKills, CrashBeforeAnyStatePersistence) {
  std::vector<std::string> ask{HOLDFAST_PROGRAM, "--store", address_, "tx", "start",
                               "results",        "{}",      "--id",   "tx"};
  auto died = test::run(ask, {{"HOLDFAST_KILL_AT", "enqueue_before_commit"}});
  ASSERT_EQ(died.ending.signal, SIGKILL);
  EXPECT_FALSE(inspector_.find("tx"));
  auto lost_its_answer = test::run(ask, {{"HOLDFAST_KILL_AT", "enqueue_after_commit"}});
  ASSERT_EQ(lost_its_answer.ending.signal, SIGKILL);
  ASSERT_TRUE(test::run(ask).ending.ok()) << "the same again is the same transaction";
  EXPECT_EQ(inspector_.list({.machine = "results"}).size(), 1u);
  produce("tx");
  finish();
  expect_whole({"tx"});
}

TEST_F(ResultKills, CrashInState0BeforeProducerRequest) {
  start("tx");
  produce("tx");
  ASSERT_NO_FATAL_FAILURE(die("outbox_before_publish"));
  EXPECT_EQ(messages_in("requests"), 0);
  EXPECT_EQ(inspector_.find("tx")->state, "request_forwarding");
  EXPECT_EQ(inspector_.outbox("tx").size(), 1u) << "decided, and not sent";
  finish();
  EXPECT_EQ(messages_in("requests"), 1);
  expect_whole({"tx"});
}

TEST_F(ResultKills, CrashInState1AfterPartialMessageProcessing) {
  start("tx");
  produce("tx");
  ASSERT_NO_FATAL_FAILURE(die(after_part() + ":4"));
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results");
  auto finished = test::run(command());
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  EXPECT_THAT(finished.err, testing::HasSubstr("checking for recoverable transactions"));
  EXPECT_THAT(finished.err, testing::HasSubstr("transactions to recover: 1"));
  EXPECT_EQ(times(finished.err, "recovered in state awaiting_results"), 1) << finished.err;
  EXPECT_EQ(times(finished.err, "resumed in state"), 0) << "not said in two ways\n" << finished.err;
  finish();
  expect_whole({"tx"});
  EXPECT_GE(inspector_.find("tx")->task.recoveries, 1);
}

TEST_F(ResultKills, CrashDuringMessageProcessing) {
  start("tx");
  produce_parts("tx");
  ASSERT_NO_FATAL_FAILURE(die("message_before_acknowledge"));
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results");
  EXPECT_GT(inspector_.ledger("tx").size(), 0u) << "recorded, and not acknowledged";
  produce_header("tx");
  finish();
  expect_whole({"tx"});
}

TEST_F(ResultKills, CrashInState2BeforeNotificationSent) {
  start("tx");
  produce("tx");
  ASSERT_NO_FATAL_FAILURE(die("outbox_before_publish:2"));
  EXPECT_EQ(messages_in("notices"), 0);
  EXPECT_EQ(inspector_.find("tx")->state, "sending_completion");
  EXPECT_EQ(inspector_.outbox("tx").size(), 1u) << "decided, and not sent";
  finish();
  expect_whole({"tx"});
}

TEST_F(ResultKills, CrashAfterCompletionNotificationSent) {
  start("tx");
  produce("tx");
  ASSERT_NO_FATAL_FAILURE(die("outbox_after_publish:2"));
  EXPECT_EQ(messages_in("notices"), 1);
  EXPECT_EQ(inspector_.find("tx")->state, "sending_completion");
  finish();
  EXPECT_EQ(messages_in("notices"), 2) << "at least once";
  expect_whole({"tx"});
}

TEST_F(ResultKills, CrashDuringDatabaseWrite) {
  start("tx");
  produce("tx");
  // Whatever was being written is not there: not the row, not the move, not the parts.
  const std::vector<std::string> states{"", "request_forwarding", "awaiting_results"};
  for (int visit = 1; visit <= 3; ++visit) {
    ASSERT_NO_FATAL_FAILURE(die(fmt::format("step_before_commit:{}", visit)));
    EXPECT_EQ(inspector_.find("tx")->state, states[static_cast<std::size_t>(visit) - 1]) << visit;
    EXPECT_THAT(inspector_.ledger("tx"), testing::IsEmpty());
  }
  finish();
  expect_whole({"tx"});
}

/// The parts are blobs and not recorded; then the notice is decided on and not recorded; then it is
/// sent, and that is not recorded.
TEST_F(ResultKills, CrashDuringDatabaseWriteOfPartsAndOfTheNotice) {
  start("tx");
  produce_parts("tx");
  // Each process writes one step and dies during the next one.
  for (const auto* state : {"request_forwarding", "request_forwarding", "awaiting_results"}) {
    ASSERT_NO_FATAL_FAILURE(die("step_before_commit:2"));
    EXPECT_EQ(inspector_.find("tx")->state, state);
  }
  EXPECT_THAT(inspector_.ledger("tx"), testing::IsEmpty());
  EXPECT_THAT(blobs_->list("tx/"), testing::Not(testing::IsEmpty()));
  {
    auto running = run();
    ASSERT_TRUE(eventually([&] {
      return inspector_.ledger("tx").size() == 2u * parts &&
             messages_in(results::payload_queue("tx")) == 0;
    }));
  }
  produce_header("tx");
  ASSERT_NO_FATAL_FAILURE(die("step_before_commit:2"));
  EXPECT_EQ(inspector_.find("tx")->state, "sending_completion");
  EXPECT_THAT(inspector_.outbox("tx"), testing::IsEmpty());
  EXPECT_EQ(messages_in("notices"), 0);
  ASSERT_NO_FATAL_FAILURE(die("step_before_commit:2"));
  EXPECT_EQ(inspector_.find("tx")->state, "sending_completion");
  EXPECT_EQ(inspector_.outbox("tx").size(), 1u);
  EXPECT_EQ(messages_in("notices"), 1);
  finish();
  expect_whole({"tx"});
}

/// It fails before it takes anything, with everything in its queues.
TEST_F(ResultKills, DyingWhileItFailsKeepsCopiesAndTellsTheClient) {
  start_transaction(engine_, results::machine_name, "tx", R"({"notifyQueue":"not-allowed"})");
  produce("tx");
  // Before and after the step that ends its round, and around the notice.
  for (const auto* where : {"step_before_commit:3", "step_after_commit", "outbox_before_publish",
                            "outbox_after_publish"}) {
    ASSERT_NO_FATAL_FAILURE(die(where));
    EXPECT_EQ(inspector_.find("tx")->state, "cleaning") << where;
  }
  finish();
  EXPECT_EQ(inspector_.find("tx")->task.state, TaskState::failed);
  EXPECT_GE(messages_in(dead_letter_queue), 2 * parts + 2);
  EXPECT_FALSE(broker_->exists(results::payload_queue("tx")));
  std::set<std::string> ids;
  for (const auto& notice : take("notices", 1)) ids.insert(notice->id());
  EXPECT_THAT(ids, testing::ElementsAre("tx-failed"));
  EXPECT_THAT(inspector_.outbox("tx"), testing::IsEmpty());
}

TEST_F(ResultKills, MultipleCrashesDuringSameTransaction) {
  start("tx");
  produce("tx");
  const std::vector<std::pair<std::string, std::string>> places{
      {"step_after_commit", "request_forwarding"},
      {before_part(), "awaiting_results"},
      {after_part(), "awaiting_results"},
      {"message_before_acknowledge", "awaiting_results"},
      {"outbox_after_publish", "sending_completion"}};
  for (const auto& [where, state] : places) {
    ASSERT_NO_FATAL_FAILURE(die(where));
    EXPECT_EQ(inspector_.find("tx")->state, state) << where;
  }
  finish();
  expect_whole({"tx"});
}

/// More often than any limit on crashes: they came from outside, so none of them is charged.
TEST_F(ResultKills, AnyNumberOfKillsDuringAnUploadHoldsNothing) {
  start("tx");
  produce("tx");
  for (int kill = 0; kill < 15; ++kill) ASSERT_NO_FATAL_FAILURE(die(before_part())) << kill;
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results");
  EXPECT_GE(inspector_.find("tx")->task.recoveries, 14);
  finish();
  expect_whole({"tx"});
}

TEST_F(ResultKills, WhatAKilledInstanceHadGoesOnInAnotherOne) {
  auto go_on = command();
  std::erase(go_on, "--until-empty");
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(start(fmt::format("tx-{}", i)));
  std::vector<Process> instances;
  instances.emplace_back(go_on);
  for (const auto& id : ids) ASSERT_TRUE(gets_to(id, "awaiting_results")) << instances[0].err();
  while (instances.size() < 4) instances.emplace_back(go_on);
  ASSERT_TRUE(eventually([&] { return Inspector{engine_}.workers().size() == instances.size(); }));
  auto first = inspector_.find(ids[0])->task.worker;
  instances[0].kill();
  // That is a matter of milliseconds, which the benchmark measures.
  for (const auto& id : ids)
    EXPECT_TRUE(eventually([&] {
      auto task = inspector_.find(id)->task;
      return task.state == TaskState::running && task.worker != first;
    })) << id;
  for (const auto& id : ids) produce(id);
  for (const auto& id : ids) ASSERT_TRUE(completes(id)) << instances[1].err();
  // It only listened, so nobody suspects it of having ended its worker.
  auto history = Inspector{engine_}.history(transaction_task("tx-0"));
  EXPECT_THAT(history, testing::Contains(testing::Field(&Transition::reason,
                                                        testing::HasSubstr("not being run"))));
  expect_whole(ids);
}

TEST_F(ResultKills, KillsAtAnyMomentLoseNothing) {
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) {
    ids.push_back(fmt::format("tx-{}", i));
    start(ids.back());
    produce(ids.back());
  }
  std::mt19937 dice{std::random_device{}()};
  for (int kill = 0; kill < 8; ++kill) {
    Process program{command(2)};
    program.wait(Millis{std::uniform_int_distribution{5, 400}(dice)});
    program.kill();
  }
  finish();
  expect_whole(ids);
}

}  // namespace
}  // namespace holdfast::test
