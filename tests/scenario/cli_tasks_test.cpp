#include <signal.h>

#include <fstream>
#include <set>

#include <boost/json/serialize.hpp>

#include "scenario/cli_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class CliTasks : public CliScenario {};

TEST_F(CliTasks, AddPrintsOneIdALine) {
  const auto ids = lines_of(ok({"task", "add", "mail", "--count", "2500"}));
  EXPECT_THAT(ids, SizeIs(2500));
  EXPECT_THAT(std::set<std::string>(ids.begin(), ids.end()), SizeIs(2500));
  EXPECT_THAT(ids.front(), SizeIs(26));
  EXPECT_THAT(ok({"queue", "status"}), HasSubstr("2500"));
}

TEST_F(CliTasks, WhatWasAskedForIsWhatIsShown) {
  const std::string first = add({"mail"});
  const std::string id = add({"mail", R"({"to": "ada", "n": 12345678901234567890123})", "--queue",
                              "slow", "--priority", "1", "--max-attempts", "7", "--timeout", "90s",
                              "--unique", "k", "--tag", "a", "--tag", "b", "--after", first});
  const auto task = json({"task", "show", id}).at(0);
  EXPECT_EQ(task.at("queue"), "slow");
  EXPECT_EQ(task.at("state"), "blocked");
  EXPECT_EQ(task.at("priority"), 1);
  EXPECT_EQ(task.at("max_attempts"), 7);
  EXPECT_EQ(task.at("timeout_ms"), 90'000);
  EXPECT_EQ(task.at("unique_key"), "k");
  EXPECT_EQ(boost::json::serialize(task.at("tags")), R"(["a","b"])");
  EXPECT_EQ(boost::json::serialize(task.at("waits_for")), R"([")" + first + R"("])");
  EXPECT_THAT(task.at("history").as_array(), SizeIs(1));
  // Not rounded on its way through the program.
  EXPECT_THAT(ok({"task", "show", id, "--json"}), HasSubstr("12345678901234567890123"));
  EXPECT_EQ(add({"mail", "--unique", "k"}), id);
}

TEST_F(CliTasks, APayloadThatIsAListOrAWordOfOursIsStillAPayload) {
  EXPECT_EQ(json({"task", "show", add({"list", "[1,2]"})}).at(0).at("payload").as_array().size(),
            2U);
  EXPECT_EQ(json({"task", "show", add({"show", "\"list\""})}).at(0).at("kind"), "show");
}

TEST_F(CliTasks, APayloadThatBeginsWithADashFollowsTwoDashes) {
  EXPECT_EQ(json({"task", "show", add({"number", "--", "-5"})}).at(0).at("payload"), -5);
}

TEST_F(CliTasks, DelayedTasksSayWhenTheyRun) {
  EXPECT_THAT(ok({"task", "explain", add({"mail", "--delay", "2h"})}), HasSubstr("scheduled"));
  const auto task = json({"task", "show", add({"mail", "--at", "2099-01-01T00:00:00Z"})}).at(0);
  EXPECT_EQ(task.at("run_at"), "2099-01-01T00:00:00.000Z");
}

TEST_F(CliTasks, AnInterruptedAddHasPrintedEveryTaskThatItEnqueued) {
  Process adding = start({"task", "add", "mail", "--count", "10000000"});
  ASSERT_TRUE(eventually([&] { return !adding.out().empty(); }));
  adding.signal(SIGINT);
  const auto ending = adding.wait();
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->code, 130);
  const auto printed = lines_of(adding.out()).size();
  EXPECT_THAT(adding.err(), HasSubstr("interrupted; " + std::to_string(printed)));
  EXPECT_EQ(json({"queue", "status"}).at(0).at("queues").at(0).at("counts").at("pending"), printed);
}

TEST_F(CliTasks, AFileIsOneTaskALine) {
  const std::string path = store_.folder() / "payloads.jsonl";
  std::ofstream{path} << "{\"n\":1}\n\n{\"n\":2}\n{\"n\":3}";
  EXPECT_THAT(lines_of(ok({"task", "add", "mail", "--file", path})), SizeIs(3));
  EXPECT_THAT(lines_of(ok({"task", "add", "mail", "--file", "-"}, "1\n2\n")), SizeIs(2));
  const auto oldest = json({"task", "list", "--reverse", "--limit", "1"}).at(0);
  EXPECT_EQ(boost::json::serialize(oldest.at("payload")), R"({"n":1})");
}

TEST_F(CliTasks, AWrongLineIsNamedAndNothingOfItsStepIsEnqueued) {
  std::string input;
  for (int i = 1; i <= 1500; ++i) input += i == 1400 ? "{oops}\n" : "{}\n";
  const Finished finished = cli({"task", "add", "mail", "--file", "-"}, input);
  EXPECT_EQ(finished.ending.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("standard input:1400: "));
  EXPECT_THAT(finished.err, HasSubstr("the first 1000 tasks of the file are enqueued"));
  EXPECT_THAT(lines_of(finished.out), SizeIs(1000));
  EXPECT_EQ(json({"queue", "status"}).at(0).at("queues").at(0).at("counts").at("pending"), 1000);
}

TEST_F(CliTasks, ListNarrowsAndPages) {
  add({"mail", "--queue", "a", "--tag", "x"});
  add({"mail", "--queue", "b", "--priority", "1"});
  const std::string newest = add({"resize", "--queue", "b"});
  EXPECT_THAT(json({"task", "list"}), SizeIs(3));
  EXPECT_EQ(json({"task", "list"}).at(0).at("id").as_string(), newest);
  EXPECT_THAT(json({"task", "list", "--queue", "b"}), SizeIs(2));
  EXPECT_THAT(json({"task", "list", "--kind", "resize"}), SizeIs(1));
  EXPECT_THAT(json({"task", "list", "--tag", "x"}), SizeIs(1));
  EXPECT_THAT(json({"task", "list", "--priority", "1"}), SizeIs(1));
  EXPECT_THAT(json({"task", "list", "--status", "failed", "--status", "held"}), IsEmpty());
  EXPECT_THAT(json({"task", "list", "--since", "1h"}), SizeIs(3));
  EXPECT_THAT(json({"task", "list", "--since", "2099-01-01T00:00:00Z"}), IsEmpty());
  EXPECT_THAT(json({"task", "list", "--limit", "2", "--offset", "2"}), SizeIs(1));
}

TEST_F(CliTasks, TablesArePlainInAPipe) {
  const std::string id = add({"mail"});
  const std::string table = ok({"task", "list"});
  EXPECT_THAT(table, HasSubstr("ID                          STATE    KIND"));
  EXPECT_THAT(table, HasSubstr(id + "  pending  mail"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
}

TEST_F(CliTasks, RetrySaysWhoHasTheUniqueKeyNow) {
  const std::string one = add({"mail", "--unique", "z"});
  ok({"task", "cancel", one});
  add({"mail", "--unique", "z"});
  const Finished refused = cli({"--json", "task", "retry", one});
  EXPECT_EQ(refused.ending.code, 1);
  EXPECT_EQ(refused.out, "") << "one answer is enough";
  EXPECT_THAT(refused.err, HasSubstr("unique key 'z'"));
}

TEST_F(CliTasks, CancelAndRetrySayWhatTheyChanged) {
  const std::string one = add({"mail"});
  const std::string two = add({"mail", "--queue", "b"});
  EXPECT_THAT(ok({"task", "cancel", one}), HasSubstr("1 task cancelled"));
  EXPECT_EQ(state_of(one), "cancelled");
  const Finished again = cli({"task", "cancel", one});
  EXPECT_EQ(again.ending.code, 1);
  EXPECT_THAT(again.err, HasSubstr("nothing to cancel"));
  EXPECT_THAT(again.err, HasSubstr("is cancelled"));
  EXPECT_EQ(json({"task", "cancel", "--queue", "b"}).at(0).at("changed"), 1);
  EXPECT_EQ(json({"task", "retry", "--status", "cancelled"}).at(0).at("changed"), 2);
  EXPECT_EQ(state_of(two), "pending");
  const auto history = json({"task", "show", two}).at(0).at("history").as_array();
  EXPECT_EQ(history.back().at("actor"), "operator");
}

TEST_F(CliTasks, ActionsOnEverythingMustBeAskedForByName) {
  add({"mail"});
  const Finished finished = cli({"task", "cancel"});
  EXPECT_EQ(finished.ending.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("which tasks?"));
  EXPECT_THAT(ok({"task", "cancel", "--all"}), HasSubstr("1 task cancelled"));
  EXPECT_EQ(cli({"task", "cancel", "--all", "--queue", "q", add({"mail"})}).ending.code, 1);
}

TEST_F(CliTasks, APausedQueueExplainsItself) {
  const std::string id = add({"mail", "--queue", "q"});
  ok({"queue", "pause", "q"});
  EXPECT_THAT(ok({"task", "explain", id}), HasSubstr("paused"));
  EXPECT_THAT(ok({"queue", "status"}), HasSubstr("q (paused)"));
  ok({"queue", "resume", "q"});
  EXPECT_THAT(ok({"task", "explain", id}), Not(HasSubstr("paused")));
}

TEST_F(CliTasks, AKindThatNobodyHandlesExplainsItself) {
  EXPECT_THAT(ok({"task", "explain", add({"nobody-does-this"})}),
              HasSubstr("No running worker handles kind 'nobody-does-this'"));
}

}  // namespace
}  // namespace holdfast::test
