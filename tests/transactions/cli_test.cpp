#include <csignal>
#include <filesystem>

#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TransactionCommands : public ResultsScenario {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& words) const {
    std::vector<std::string> line{HOLDFAST_PROGRAM, "--store", address_};
    line.insert(line.end(), words.begin(), words.end());
    return line;
  }
  std::string ok(const std::vector<std::string>& words) const {
    auto done = test::run(command(words));
    EXPECT_TRUE(done.ending.ok()) << done.err;
    return done.out;
  }
  boost::json::value json(std::vector<std::string> words) const {
    words.insert(words.begin(), "--json");
    return boost::json::parse(ok(words));
  }
  std::string refusal(const std::vector<std::string>& words) const {
    auto done = test::run(command(words));
    EXPECT_EQ(done.ending.code, 1) << done.out;
    return done.err;
  }
  std::vector<std::string> run_words() const {
    return {"results",        "run",          "--broker",        broker_address_,
            "--blobs",        blobs_->name(), "--request-queue", "requests",
            "--notify-queue", "notices",      "--intake-queue",  "wishes"};
  }
};

TEST_F(TransactionCommands, StartShowAndEndResults) {
  EXPECT_EQ(ok({"tx", "start", "results", R"({"rule":7})", "--id", "scan"}), "scan\n");
  EXPECT_EQ(ok({"tx", "start", "results", R"({"rule":7})", "--id", "scan"}), "scan\n");
  EXPECT_THAT(refusal({"tx", "start", "results", "{}", "--id", "scan"}), HasSubstr("payload"));
  EXPECT_THAT(ok({"tx", "show", "scan"}), HasSubstr("not begun"));
  Process program{command(run_words())};
  ASSERT_TRUE(gets_to("scan", "awaiting_results")) << program.err();
  EXPECT_THAT(ok({"tx", "show", "scan"}), HasSubstr("\nno header yet"));
  broker_->publish(part_message("scan", "Files", 46, "x"));
  ASSERT_TRUE(eventually([&] { return inspector_.ledger("scan").size() == 1; }));
  broker_->publish(header_message("scan", R"([{"name":"Files","count":45}])"));
  for (int i = 1; i <= 45; ++i)
    if (i != 17 && (i < 42 || i > 44)) broker_->publish(part_message("scan", "Files", i, "x"));
  ASSERT_TRUE(eventually([&] { return inspector_.ledger("scan").size() == 42; }));
  ASSERT_TRUE(eventually([&] { return progress("scan").announced; }));
  auto shown = ok({"tx", "show", "scan"});
  EXPECT_THAT(shown, HasSubstr("awaiting_results"));
  EXPECT_THAT(shown, HasSubstr("owner"));
  EXPECT_THAT(shown, HasSubstr("17, 42-44 (1 that were not announced)"));
  EXPECT_THAT(shown, testing::ContainsRegex("Files +41 +45"));
  EXPECT_THAT(shown, Not(HasSubstr("sha256")));
  EXPECT_THAT(ok({"tx", "show", "scan", "--ledger"}), HasSubstr("sha256"));
  auto document = json({"tx", "show", "scan"});
  EXPECT_EQ(document.at("state").as_string(), "awaiting_results");
  EXPECT_EQ(document.at("task_state").as_string(), "running");
  EXPECT_EQ(document.at("result").at("series").at(0).at("received").as_int64(), 41);
  EXPECT_EQ(document.at("result").at("series").at(0).at("missing").as_string(), "17, 42-44");
  EXPECT_EQ(document.at("history").as_array().size(), 1u);
  EXPECT_THAT(ok({"tx", "list"}), HasSubstr("awaiting_results"));
  EXPECT_EQ(json({"tx", "list", "--machine", "results"}).at("id").as_string(), "scan");
  EXPECT_EQ(ok({"--json", "tx", "list", "--status", "failed"}), "");

  broker_->publish(Message{"wishes", R"({"transactionId":"asked","request":1})"});
  EXPECT_TRUE(eventually([&] { return inspector_.find("asked").has_value(); }));
  ok({"tx", "cancel", "scan"});
  EXPECT_TRUE(
      eventually([&] { return inspector_.find("scan")->task.state == TaskState::cancelled; }));
  EXPECT_THAT(refusal({"tx", "cancel", "scan"}), HasSubstr("'scan' is cancelled"));
  program.signal(SIGTERM);
  auto ending = program.wait();
  ASSERT_TRUE(ending);
  EXPECT_TRUE(ending->ok()) << program.err();

  auto cleaned = json({"tx", "cleanup", "--blobs", blobs_->name()});
  EXPECT_EQ(cleaned.at("queues").as_int64(), 2);
  EXPECT_EQ(cleaned.at("blobs").as_int64(), 42);
  ok({"tx", "retry", "scan"});
  EXPECT_EQ(inspector_.find("scan")->task.state, TaskState::pending);
}

/// The first example of the guide: a shell is client and producer.
TEST_F(TransactionCommands, AShellAloneFeedsAResult) {
  ok({"tx", "start", "results", R"({"rule":7})", "--id", "scan"});
  Process receiver{command({"results", "receive", "requests", "--wait", "40s"})};
  Process program{command(run_words())};
  ASSERT_TRUE(receiver.wait(std::chrono::seconds{60})) << "the queue is not there yet";
  auto request = boost::json::parse(receiver.out());
  EXPECT_EQ(request.at("transactionId").as_string(), "scan");
  EXPECT_THAT(refusal({"results", "receive", "requests", "--wait", "10ms"}),
              HasSubstr("no message came to queue 'requests' within 10ms"));
  ok({"results", "send", "--id", "scan", "--header", "Files=2", "--header", "a=b=0"});
  for (const std::string ordinal : {"1", "2"}) {
    auto sent = test::run(
        command({"results", "send", "--id", "scan", "--series", "Files", "--ordinal", ordinal}), {},
        "bytes of " + ordinal);
    EXPECT_TRUE(sent.ending.ok()) << sent.err;
  }
  auto received = json({"results", "receive", "notices", "--wait", "40s"});
  EXPECT_EQ(received.at("id").as_string(), "scan");
  auto notice = boost::json::parse(std::string{received.at("body").as_string()});
  EXPECT_EQ(notice.at("status").as_string(), "completed");
  EXPECT_EQ(notice.at("totalBlobCount").as_int64(), 2);
  EXPECT_EQ(blobs_->get("scan/Files/2.blob"), "bytes of 2");
  EXPECT_TRUE(completes("scan"));
}

TEST_F(TransactionCommands, MessagesThatMakeNoSenseAreNotSent) {
  broker_->declare("wishes");
  ok({"results", "send", "--queue", "wishes", "--id", "one", "/dev/null"});
  EXPECT_EQ(messages_in("wishes"), 1);
  EXPECT_THAT(refusal({"results", "send", "--id", "x"}), HasSubstr("say what is sent"));
  EXPECT_THAT(refusal({"results", "send", "--header", "A=1"}), HasSubstr("--id is missing"));
  EXPECT_THAT(refusal({"results", "send", "--id", "x", "--header", "A"}),
              HasSubstr("--header 'A' is not SERIES=COUNT"));
  EXPECT_THAT(refusal({"results", "send", "--id", "x", "--series", "A", "/dev/null"}),
              HasSubstr("--ordinal is missing"));
  EXPECT_FALSE(
      test::run(command({"results", "receive", "nothing-here", "--wait", "10ms"})).ending.ok());
  auto nowhere = test::run(command({"results", "send", "--id", "x", "--header", "A=1"}));
  EXPECT_FALSE(nowhere.ending.ok());
  EXPECT_THAT(nowhere.err, HasSubstr("no queue 'transaction-x-header'"));
  EXPECT_THAT(nowhere.err, HasSubstr("'holdfast results run' makes"));
}

TEST_F(TransactionCommands, ShowWhatAResultWaitsForAndSinceWhen) {
  auto words = run_words();
  words.insert(words.end(), {"--abandon-after", "20s", "--metrics-file",
                             (store_.folder() / "numbers.prom").string()});
  start("scan");
  {
    Process program{command(words)};
    ASSERT_TRUE(gets_to("scan", "awaiting_results")) << program.err();
    ASSERT_TRUE(eventually([&] { return progress("scan").silent > Millis{0}; }));
  }
  Process program{command(words)};
  ASSERT_TRUE(eventually([&] {
    return ok({"tx", "show", "scan"}).find("\nrecovered    1 time\n") != std::string::npos;
  }));
  auto shown = ok({"tx", "show", "scan"});
  EXPECT_THAT(shown, testing::ContainsRegex("silent +[0-9.]+ s of listening without anything new"));
  EXPECT_THAT(shown, testing::ContainsRegex("recovery +20.*Worker .* died"));
  EXPECT_GE(json({"tx", "show", "scan"}).at("result").at("silent_ms").as_int64(), 2'000);
  EXPECT_TRUE(eventually([&] {
    return program.err().find("recovered in state awaiting_results") != std::string::npos;
  })) << program.err();
  EXPECT_TRUE(std::filesystem::exists(store_.folder() / "numbers.prom"));
}

TEST_F(TransactionCommands, AreListedNewestFirst) {
  for (const auto* id : {"b", "c", "a"}) ok({"tx", "start", "results", "{}", "--id", id});
  const auto all = ok({"tx", "list"});
  EXPECT_LT(all.find("\na "), all.find("\nc "));
  EXPECT_LT(all.find("\nc "), all.find("\nb "));
}

TEST_F(TransactionCommands, RefuseWhatMakesNoSense) {
  EXPECT_THAT(refusal({"tx", "show", "none"}), HasSubstr("no transaction 'none'"));
  EXPECT_THAT(refusal({"tx", "show", "a/b"}), HasSubstr("letters, digits"));
  EXPECT_THAT(refusal({"tx", "start", "results", "{"}), HasSubstr("JSON"));
  EXPECT_THAT(refusal({"tx", "list", "--status", "asleep"}), HasSubstr("'asleep'"));
  EXPECT_THAT(refusal({"results", "run", "--blobs", "ftp:x", "--request-queue", "a",
                       "--notify-queue", "b"}),
              HasSubstr("dir:FOLDER"));
  EXPECT_THAT(refusal({"results", "run", "--broker", "ftp:x", "--blobs", blobs_->name(),
                       "--request-queue", "a", "--notify-queue", "b"}),
              HasSubstr("sqlite:FILE"));
}

TEST_F(TransactionCommands, TransactionsThatHaveBegunAreMovedWhereverTheMoveDies) {
  auto to = "sqlite:" + (store_.folder() / "other.db").string();
  const std::vector<std::string> move{"move", "--from", store_.address(), "--to", to};
  start("tx");
  {
    auto running = run(options());
    ASSERT_TRUE(gets_to("tx", "awaiting_results"));
    broker_->publish(part_message("tx", "A", 1, "x"));
    ASSERT_TRUE(eventually([&] { return inspector_.ledger("tx").size() == 1; }));
    EXPECT_THAT(refusal(move), HasSubstr("1 transactions are running"));
    auto queues = Inspector{engine_}.queues();
    ASSERT_EQ(queues.size(), 1u);
    EXPECT_FALSE(queues[0].paused) << "it is as it was";
  }
  start("not-begun");
  auto ledger = inspector_.ledger("tx");
  auto began_at = inspector_.find("tx")->began_at;
  for (int visit = 1;; ++visit) {
    auto done = test::run(command(move),
                          {{"HOLDFAST_KILL_AT", fmt::format("move_after_commit:{}", visit)}});
    if (done.ending.ok()) break;
    ASSERT_EQ(done.ending.signal, SIGKILL) << done.err;
  }
  EXPECT_FALSE(inspector_.find("tx"));
  auto engine = open(to);
  const TransactionInspector there{engine};
  EXPECT_EQ(there.find("not-begun")->task.state, TaskState::pending);
  EXPECT_EQ(there.find("tx")->state, "awaiting_results");
  EXPECT_EQ(there.find("tx")->began_at, began_at);
  EXPECT_EQ(there.ledger("tx"), ledger);
  EXPECT_EQ(there.moves("tx").size(), 1u);
  const Running running{engine, results::machine(options()), {.broker = broker_}};
  broker_->publish(part_message("tx", "A", 2, "y"));
  broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));
  EXPECT_TRUE(eventually([&] { return there.find("tx")->task.state == TaskState::completed; },
                         std::chrono::seconds{60}));
}

TEST_F(TransactionCommands, DeadLettersAreListedReplayedAndDiscarded) {
  const auto letters = [](const std::string& verb, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"results", "dead-letters", verb};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_EQ(ok(letters("list")), "no dead letters\n");
  broker_->declare("q");
  const auto bury = [&] {
    auto consumer = broker_->consume({});
    consumer->listen("q");
    auto got = consumer->receive(std::chrono::seconds{20}).deliveries;
    for (const auto& each : got) consumer->reject(each, "not like this");
    return got.size();
  };
  broker_->publish(Message{"q", "nonsense", "m1", {{"a", "b"}}});
  ASSERT_EQ(bury(), 1u);
  auto listed = json(letters("list")).as_object();
  EXPECT_EQ(listed.at("id").as_string(), "m1");
  EXPECT_EQ(listed.at("queue").as_string(), "q");
  EXPECT_EQ(listed.at("reason").as_string(), "not like this");
  const std::string name{listed.at("letter").as_string()};
  EXPECT_THAT(ok(letters("list")), HasSubstr(name));
  EXPECT_THAT(ok(letters("show", {name})), HasSubstr("nonsense"));
  EXPECT_THAT(refusal(letters("show", {"0123"})), HasSubstr("'0123'"));
  EXPECT_THAT(refusal(letters("replay")), HasSubstr("--all"));
  EXPECT_THAT(ok(letters("replay", {name})), HasSubstr("1 dead letter replayed"));
  EXPECT_EQ(messages_in(dead_letter_queue), 0);
  auto again = take("q", 1);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0]->headers(), (MessageHeaders{{"a", "b"}}));
  EXPECT_EQ(again[0]->id(), "m1");
  broker_->publish(Message{"q", "other", "m2"});
  ASSERT_EQ(bury(), 1u);
  EXPECT_THAT(ok(letters("discard", {"--all"})), HasSubstr("1 dead letter discarded"));
  EXPECT_EQ(messages_in(dead_letter_queue), 0);
  EXPECT_EQ(messages_in("q"), 0);
}

}  // namespace
}  // namespace holdfast::test
