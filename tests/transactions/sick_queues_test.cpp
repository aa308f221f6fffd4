#include <set>

#include <holdfast/metrics.hpp>

#include "support/rabbitmq_server.hpp"
#include "transactions/amqp_front_of_results.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

using Steady = std::chrono::steady_clock;
using Sickness = AmqpFront::Sickness;
using testing::HasSubstr;

/// Results some of whose queues the server cannot read.
class SickQueues : public ResultsScenario {
 protected:
  static constexpr int parts = 3;

  void TearDown() override {
    front_.heal();
    for (const auto& each : inspector_.list({.machine = results::machine_name}, {.limit = 500}))
      for (int round = 0; round < 3; ++round) {
        server_broker_->remove(results::header_queue(each.id, round));
        server_broker_->remove(results::payload_queue(each.id, round));
      }
    ResultsScenario::TearDown();
  }
  std::vector<std::string> begin(const std::string& name, int count) const {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) ids.push_back(start(fmt::format("{}-{}", name, i)));
    for (const auto& id : ids) EXPECT_TRUE(gets_to(id, "awaiting_results"));
    return ids;
  }
  /// As a producer with a connection of its own.
  void produce(const std::string& id, int round = 0) const {
    std::vector<Message> messages;
    for (int i = 1; i <= parts; ++i)
      messages.push_back(part_message(id, "A", i, fmt::format("part {}", i)));
    messages.push_back(header_message(id, fmt::format(R"([{{"name":"A","count":{}}}])", parts)));
    for (auto& message : messages)
      message.queue = message.queue == results::header_queue(id)
                          ? results::header_queue(id, round)
                          : results::payload_queue(id, round);
    server_broker_->publish(messages);
  }
  bool all_complete(const std::vector<std::string>& ids, std::chrono::seconds at_most) const {
    return eventually(
        [&] {
          return std::ranges::all_of(ids, [&](const auto& id) {
            return inspector_.find(id)->task.state == TaskState::completed;
          });
        },
        at_most);
  }
  std::map<std::string, std::string> troubles() const {
    for (const auto& worker : Inspector{engine_}.workers())
      if (worker.state == WorkerState::running) return worker.troubles;
    return {};
  }
  void expect_whole(const std::vector<std::string>& ids) const {
    for (const auto& id : ids) EXPECT_EQ(blobs_->list(id + "/").size(), 1u * parts) << id;
    EXPECT_LE(server_broker_->messages(dead_letter_queue).value_or(0), 0);
  }

  AmqpFront& front_ = front_of_results();
  std::shared_ptr<Broker> server_broker_ = open_broker(RabbitmqServer::shared().address());
};

TEST_F(SickQueues, DoNotDelayOtherResults) {
  std::vector<std::string> noted;
  std::mutex mutex;
  engine_.events().subscribe([&](const Event& event) {
    const auto* watched = std::get_if<QueueWatched>(&event);
    if (!watched || watched->change != QueueWatched::Change::unreadable) return;
    std::lock_guard lock{mutex};
    noted.push_back(watched->queue + ": " + watched->why);
  });
  auto metrics = count_events(engine_);
  auto running = run();
  auto old = begin("old", 10);
  front_.make_sick(results::payload_queue("old-1"), Sickness::closes);
  front_.make_sick(results::payload_queue("old-4"), Sickness::silent);
  front_.make_sick(results::header_queue("old-7"), Sickness::closes);
  RabbitmqServer::shared().cut_connections();
  for (const auto& id : old) produce(id);
  auto began = Steady::now();
  auto fresh = begin("new", 10);
  for (const auto& id : fresh) produce(id);
  EXPECT_TRUE(all_complete(fresh, std::chrono::seconds{20}));
  EXPECT_LT(Steady::now() - began, std::chrono::seconds{20});
  EXPECT_TRUE(all_complete({"old-0", "old-2", "old-3", "old-5", "old-6", "old-8", "old-9"},
                           std::chrono::seconds{10}));
  EXPECT_TRUE(eventually([&] {
    return inspector_.find("old-1")->error.find("INTERNAL_ERROR") != std::string::npos &&
           inspector_.find("old-4")->error.find("did not answer") != std::string::npos;
  })) << inspector_.find("old-1")->error
      << "; " << inspector_.find("old-4")->error;
  EXPECT_EQ(inspector_.find("old-1")->failures, 0);
  {
    std::lock_guard lock{mutex};
    EXPECT_THAT(noted, testing::Contains(testing::AllOf(HasSubstr(results::payload_queue("old-1")),
                                                        HasSubstr("INTERNAL_ERROR"))));
    std::erase_if(noted, [](const auto& each) { return each.find("INTERNAL_ERROR") == each.npos; });
    EXPECT_THAT(noted, testing::Each(testing::AnyOf(HasSubstr("old-1-"), HasSubstr("old-7-"))))
        << "the others were only on the same connection";
  }
  EXPECT_THAT(metrics->text(), HasSubstr("holdfast_queues_unreadable 3\n"));
  EXPECT_TRUE(eventually([&] { return troubles().size() == 3; })) << "its worker says so";
  front_.heal();
  EXPECT_TRUE(all_complete(old, std::chrono::seconds{60}));
  EXPECT_THAT(metrics->text(), HasSubstr("holdfast_queues_unreadable 0\n"));
  expect_whole(old);
  expect_whole(fresh);
}

TEST_F(SickQueues, AreReplacedWhenTheyStaySick) {
  auto options = this->options();
  options.queue_patience = Millis{1'500};
  std::vector<std::string> told;
  std::mutex mutex;
  options.tell = [&](const Event& event) {
    std::lock_guard lock{mutex};
    if (const auto* noted = std::get_if<TransactionNoted>(&event)) told.push_back(noted->what);
  };
  auto running = run(options);
  start("tx");
  ASSERT_EQ(take("requests", 1).size(), 1u);
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  front_.make_sick(results::payload_queue("tx"), Sickness::closes);
  RabbitmqServer::shared().cut_connections();
  server_broker_->publish(part_message("tx", "A", 2, "part 2"));
  auto requests = take("requests", 1);
  ASSERT_EQ(requests.size(), 1u);
  auto request = boost::json::parse(requests[0]->body());
  EXPECT_EQ(request.at("payloadQueueName").as_string(), results::payload_queue("tx", 1));
  EXPECT_EQ(request.at("headerQueueName").as_string(), results::header_queue("tx", 1));
  EXPECT_TRUE(request.at("resend").as_bool());
  EXPECT_THAT(inspector_.moves("tx").back().reason, testing::_);
  produce("tx", 1);
  EXPECT_TRUE(completes("tx"));
  expect_whole({"tx"});
  std::lock_guard lock{mutex};
  EXPECT_THAT(told, testing::Contains(testing::AllOf(HasSubstr("stays on the broker: 1 message"),
                                                     HasSubstr(results::payload_queue("tx")),
                                                     HasSubstr("INTERNAL_ERROR")))
                        .Times(1));
}

/// They wait for their queues without the threads that others need.
TEST_F(SickQueues, OfResultsThatFailedDelayNoOthers) {
  constexpr int sick = 8;
  std::vector<std::string> failing;
  for (int i = 0; i < sick; ++i) {
    auto id = fmt::format("failing-{}", i);
    server_broker_->declare(results::payload_queue(id));
    server_broker_->publish(part_message(id, "A", 1, "x"));
    front_.make_sick(results::payload_queue(id), Sickness::closes);
    start_transaction(engine_, results::machine_name, id, R"({"notifyQueue":"not-allowed"})");
    failing.push_back(id);
  }
  auto running = run();
  for (const auto& id : failing) {
    EXPECT_TRUE(gets_to(id, "cleaning"));
    EXPECT_TRUE(eventually([&] {
      return inspector_.find(id)->error.find("INTERNAL_ERROR") != std::string::npos;
    })) << inspector_.find(id)->error;
  }
  std::set<std::string> notices;
  for (const auto& notice : take("notices", sick)) notices.insert(notice->id());
  EXPECT_EQ(notices.size(), 1u * sick) << "clients are told although the queues are there";
  auto began = Steady::now();
  auto fresh = begin("new", 10);
  for (const auto& id : fresh) produce(id);
  EXPECT_TRUE(all_complete(fresh, std::chrono::seconds{20}));
  EXPECT_LT(Steady::now() - began, std::chrono::seconds{10});
  EXPECT_EQ(inspector_.find(failing[0])->state, "cleaning");
  front_.heal();
  for (const auto& id : failing) EXPECT_TRUE(fails(id)) << inspector_.find(id)->error;
  EXPECT_EQ(reasons_of_dead_letters(sick).size(), 1u * sick) << "copies of what was in them";
}

TEST_F(SickQueues, ThatWereReplacedAreReadWhenTheyAreWell) {
  auto options = this->options();
  options.queue_patience = Millis{1'000};
  auto running = run(options);
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  produce("tx");
  front_.make_sick(results::payload_queue("tx"), Sickness::silent);
  RabbitmqServer::shared().cut_connections();
  ASSERT_EQ(take("requests", 2).size(), 2u) << "the second asks to send again";
  front_.heal();
  EXPECT_TRUE(completes("tx")) << "with what was in the old queue";
  expect_whole({"tx"});
}

/// The server says nothing to those who read a queue when it goes down.
TEST_F(SickQueues, ThatGoDownWhileTheyAreReadAreReplaced) {
  auto& server = RabbitmqServer::shared();
  auto options = this->options();
  options.abandon_after = std::chrono::seconds{60};
  options.queue_patience = Millis{2'000};
  auto running = run(options);
  begin("tx", 1);
  ASSERT_EQ(take("requests", 1).size(), 1u);
  const auto down = results::payload_queue("tx-0");
  server.kill_leaders_for_good({down});
  const auto requests = take("requests", 1);
  ASSERT_EQ(requests.size(), 1u) << inspector_.find("tx-0")->error;
  const auto request = boost::json::parse(requests[0]->body());
  EXPECT_EQ(request.at("payloadQueueName").as_string(), results::payload_queue("tx-0", 1));
  produce("tx-0", 1);
  EXPECT_TRUE(completes("tx-0"));
  expect_whole({"tx-0"});
  server.revive_leaders({down});
}

/// Kills of a real server, and inside of it. With `HOLDFAST_BROKER_KILLS` so many, of one that has
/// many queues which are older than a minute.
class ServerKills : public SickQueues {
 protected:
  std::vector<std::string> begin_long_ago() const {
    auto ids = begin("result", is_long_ ? 50 : 8);
    const auto old_enough = Steady::now() + std::chrono::seconds{is_long_ ? 65 : 0};
    EXPECT_TRUE(eventually([&] { return Steady::now() >= old_enough; }, std::chrono::seconds{80}));
    return ids;
  }
  void publish_some_of(const std::vector<std::string>& ids) const {
    for (const auto& id : ids) server_broker_->publish(part_message(id, "A", 1, "part 1"));
  }
  void expect_new_ones_to_complete_soon(int kill) const {
    const auto now = Steady::now();
    auto fresh = begin(fmt::format("after-{}", kill), 5);
    for (const auto& id : fresh) produce(id);
    EXPECT_TRUE(all_complete(fresh, std::chrono::seconds{10})) << kill;
    EXPECT_LT(Steady::now() - now, std::chrono::seconds{10}) << kill;
    expect_whole(fresh);
  }
  int queue_round(const std::string& id) const {
    auto found = inspector_.find(id).value();
    auto known = boost::json::parse(found.data == "null" ? "{}" : found.data).as_object();
    const auto* number = known.if_contains("queue_round");
    return number ? static_cast<int>(number->as_int64()) : 0;
  }
  void expect_all_to_complete(const std::vector<std::string>& ids) const {
    // What the server has lost itself is asked for again, in the queues of a next round.
    for (const auto& id : ids) produce(id, queue_round(id));
    EXPECT_TRUE(all_complete(ids, std::chrono::minutes{5}));
    expect_whole(ids);
  }

  const char* said_ = std::getenv("HOLDFAST_BROKER_KILLS");
  const bool is_long_ = said_ != nullptr;
  const int kills_ = is_long_ ? std::stoi(said_) : 2;
  RabbitmqServer& server_ = RabbitmqServer::shared();
};

TEST_F(ServerKills, LoseNoMessageAndDelayHealthyResultsForSeconds) {
  auto running = run();
  auto ids = begin_long_ago();
  for (int kill = 0; kill < kills_; ++kill) {
    publish_some_of(ids);
    server_.kill();
    server_.start();
    expect_new_ones_to_complete_soon(kill);
  }
  expect_all_to_complete(ids);
}

TEST_F(ServerKills, OfLeadersOfSingleQueuesLoseNoMessageAndDelayNoOtherResults) {
  auto running = run();
  auto ids = begin_long_ago();
  auto some = [&](int kill, int number) {
    return ids[static_cast<std::size_t>(5 * kill + number) % ids.size()];
  };
  for (int kill = 0; kill < kills_; ++kill) {
    publish_some_of(ids);
    server_.kill_leaders({results::payload_queue(some(kill, 0)),
                          results::header_queue(some(kill, 1)),
                          results::payload_queue(some(kill, 2))});
    const std::vector<std::string> down{results::payload_queue(some(kill, 3)),
                                        results::header_queue(some(kill, 4))};
    server_.kill_leaders_for_good(down);
    expect_new_ones_to_complete_soon(kill);
    server_.revive_leaders(down);
  }
  expect_all_to_complete(ids);
}

}  // namespace
}  // namespace holdfast::test
