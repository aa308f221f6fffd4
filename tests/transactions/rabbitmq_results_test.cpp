#include <atomic>
#include <csignal>
#include <fstream>

#include "blobs/servers.hpp"
#include "results/store_part.hpp"
#include "support/memory.hpp"
#include "support/postgres_server.hpp"
#include "support/rabbitmq_server.hpp"
#include "support/redis_server.hpp"
#include "transactions/lost_parts.hpp"

namespace holdfast::test {
namespace {

/// Results by way of RabbitMQ, PostgreSQL, Redis and Azurite, when these are not well.
class ResultTrouble : public ResultsScenario {
 protected:
  void header(const std::string& id, int count) const {
    broker_->publish(header_message(id, fmt::format(R"([{{"name":"A","count":{}}}])", count)));
  }
  void part(const std::string& id, int ordinal) const {
    broker_->publish(part_message(id, "A", ordinal, fmt::format("part {}", ordinal)));
  }
  /// A server that is about to start, and a ledger that is being made anew, have nothing yet.
  bool has(const std::string& id, std::size_t parts) const {
    auto count = [&]() -> std::size_t {
      try {
        return inspector_.ledger(id).size();
      } catch (const Error&) {
        return 0;
      }
    };
    return eventually([&] { return count() == parts; }, std::chrono::seconds{60});
  }
};

TEST_F(ResultTrouble, AQueueThatIsDeletedInTheMiddleIsAskedForAgain) {
  auto running = run();
  start("tx");
  ASSERT_EQ(take("requests", 1).size(), 1u);
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  header("tx", 3);
  part("tx", 2);
  ASSERT_TRUE(has("tx", 1));
  ASSERT_TRUE(eventually([&] { return progress("tx").announced; }));
  open_broker(broker_address_)->remove(results::payload_queue("tx"));
  auto requests = take("requests", 1);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(boost::json::parse(requests[0]->body()).at("series").at(0).at("missing").as_string(),
            "1, 3");
  for (int i = 1; i <= 3; ++i) part("tx", i);
  EXPECT_TRUE(completes("tx"));
}

TEST_F(ResultTrouble, ServersThatAreStartedAnewAreFoundAgain) {
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  part("tx", 1);
  ASSERT_TRUE(has("tx", 1));
  auto& postgres = PostgresServer::shared();
  postgres.stop();
  part("tx", 2);
  postgres.start();
  ASSERT_TRUE(has("tx", 2));
  auto& redis = shared_lasting_redis();
  redis.kill();
  part("tx", 3);
  redis.start();
  ASSERT_TRUE(has("tx", 3));
  auto& rabbitmq = RabbitmqServer::shared();
  rabbitmq.kill();
  rabbitmq.start();
  // A queue takes a moment longer than the server, and a producer sends again what was refused.
  auto sent = [&] {
    try {
      part("tx", 4);
      return true;
    } catch (const BrokerError&) {
      return false;
    }
  };
  ASSERT_TRUE(eventually(sent, std::chrono::seconds{60}));
  header("tx", 4);
  EXPECT_TRUE(completes("tx"));
  EXPECT_EQ(inspector_.ledger("tx").size(), 4u);
  EXPECT_EQ(blobs_->list("tx/").size(), 4u);
  EXPECT_EQ(take("notices", 1).at(0)->id(), "tx");
}

TEST_F(ResultTrouble, ALedgerThatIsLostIsMadeAnewOfTheBlobs) {
  // One part has come twice with different content, and only the second was recorded.
  blobs_->put("tx/A/2.blob", "left by somebody who died");
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  part("tx", 1);
  part("tx", 2);
  ASSERT_TRUE(has("tx", 2));
  auto before = inspector_.ledger("tx");
  shared_lasting_redis().call({"FLUSHALL"});
  EXPECT_THROW(inspector_.ledger("tx"), LedgerLost);
  part("tx", 3);
  ASSERT_TRUE(has("tx", 3));
  auto after = inspector_.ledger("tx");
  after.resize(2);
  for (auto* lines : {&before, &after})
    for (auto& line : *lines) {
      auto stored = results::part_of(line.value);
      EXPECT_EQ(stored.stored_at.empty(), lines == &after) << "when it was is lost";
      stored.stored_at.clear();
      line.value = to_payload(stored);
    }
  EXPECT_EQ(after, before) << "the same parts, the same sums";
  header("tx", 3);
  EXPECT_TRUE(completes("tx"));
  auto notice = boost::json::parse(take("notices", 1).at(0)->body());
  EXPECT_EQ(notice.at("totalBlobCount").as_int64(), 3);
  EXPECT_EQ(blobs_->list("tx/").size(), 3u);
}

TEST_F(ResultTrouble, ALedgerThatIsLostAfterTheNoticeTakesNoBlobsAlong) {
  start("tx");
  for (auto queue : {results::header_queue("tx"), results::payload_queue("tx")})
    broker_->declare(queue);
  for (int i = 1; i <= 3; ++i) part("tx", i);
  header("tx", 3);
  auto command = command_of(HOLDFAST_PROGRAM, {"--until-empty"});
  auto died = test::run(command, {{"HOLDFAST_KILL_AT", "outbox_after_publish:2"}});
  ASSERT_EQ(died.ending.signal, SIGKILL) << died.err;
  ASSERT_EQ(inspector_.find("tx")->state, "sending_completion");
  shared_lasting_redis().call({"FLUSHALL"});
  auto finished = test::run(command);
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  EXPECT_EQ(inspector_.find("tx")->task.state, TaskState::completed);
  EXPECT_EQ(inspector_.ledger("tx").size(), 3u);
  EXPECT_EQ(blobs_->list("tx/").size(), 3u);
}

TEST_F(ResultTrouble, DyingWhileTheLedgerOfAFailedOneIsRemovedLeavesNoneThatIsBelieved) {
  for (const std::string where : {"ledger_before_remove", "ledger_after_remove"}) {
    auto id = start(where);
    broker_->declare(results::header_queue(id));
    broker_->declare(results::payload_queue(id));
    part(id, 1);
    auto command = command_of(HOLDFAST_PROGRAM, {"--until-empty", "--abandon-after", "300ms"});
    auto died = test::run(command, {{"HOLDFAST_KILL_AT", where}});
    ASSERT_EQ(died.ending.signal, SIGKILL) << died.err;
    ASSERT_TRUE(test::run(command).ending.ok());
    EXPECT_EQ(inspector_.find(id)->task.state, TaskState::failed);
    EXPECT_THAT(inspector_.ledger(id), testing::IsEmpty());
    EXPECT_THAT(blobs_->list(id + "/"), testing::IsEmpty());
  }
}

TEST_F(ResultTrouble, WhileTheBlobsAreAwayPartsWait) {
  std::atomic<int> troubles = 0;
  engine_.events().subscribe([&](const Event& event) {
    auto* trouble = std::get_if<StoreTrouble>(&event);
    troubles += trouble && trouble->what == "running a transaction";
  });
  auto running = run();
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  part("tx", 1);
  ASSERT_TRUE(has("tx", 1));
  shared_azurite().stop();
  part("tx", 2);
  part("tx", 3);
  header("tx", 3);
  // More often than a request is repeated: the transaction lets go of its messages and comes again.
  EXPECT_TRUE(eventually([&] { return troubles >= 2; }, std::chrono::minutes{2}));
  EXPECT_THAT(inspector_.find("tx")->error, testing::HasSubstr("does not answer"))
      << "whoever looks sees what it waits for";
  EXPECT_EQ(inspector_.find("tx")->failures, 0);
  shared_azurite().start();
  EXPECT_TRUE(completes("tx"));
  EXPECT_EQ(inspector_.find("tx")->error, "");
  EXPECT_EQ(inspector_.ledger("tx").size(), 3u);
  EXPECT_EQ(blobs_->list("tx/").size(), 3u);
  EXPECT_LE(messages_in(dead_letter_queue), 0) << "it was nobody's fault";
}

TEST_F(ResultTrouble, BlobsThatAreAwayForLongCostNoParts) {
  auto impatient = options();
  impatient.abandon_after = Millis{3'000};
  auto running = run(impatient);
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  part("tx", 1);
  ASSERT_TRUE(has("tx", 1));
  shared_azurite().stop();
  for (int i = 2; i <= 5; ++i) part("tx", i);
  const auto since = *inspector_.find("tx")->progressed_at;
  ASSERT_TRUE(eventually(
      [&] { return std::chrono::system_clock::now() > since + 3 * impatient.abandon_after; },
      std::chrono::seconds{40}));
  EXPECT_EQ(inspector_.find("tx")->state, "awaiting_results");
  shared_azurite().start();
  header("tx", 5);
  EXPECT_TRUE(completes("tx"));
  EXPECT_LE(messages_in(dead_letter_queue), 0);
}

TEST_F(ResultTrouble, WhatIsLeftInTheQueuesOfAFailedOneIsADeadLetter) {
  auto limited = options();
  limited.timeout = Millis{8'000};
  auto running = run(limited);
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  shared_azurite().stop();
  for (int i = 1; i <= 5; ++i) part("tx", i);
  ASSERT_TRUE(gets_to("tx", "cleaning"));
  EXPECT_TRUE(eventually([&] { return messages_in(dead_letter_queue) == 5; }));
  shared_azurite().start();
  ASSERT_TRUE(fails("tx"));
  for (const auto& reason : reasons_of_dead_letters(5))
    EXPECT_THAT(reason, testing::HasSubstr("its result failed: the transaction took longer"));
  EXPECT_EQ(messages_in("notices"), 1);
}

TEST_F(ResultTrouble, MemoryStaysBoundedWhileMuchComes) {
  constexpr int parts = 64;
  constexpr std::int64_t part_bytes = 4 << 20, ahead_mb = 16;
  blobs_address_ = "dir:" + (store_.folder() / "parts").string();
  const Process program{command_of(HOLDFAST_PROGRAM, {"--prefetch", std::to_string(ahead_mb)})};
  start("tx");
  ASSERT_TRUE(gets_to("tx", "awaiting_results")) << program.err();
  auto before = peak_memory(program.pid());
  const std::string content(part_bytes, 'x');
  for (int i = 1; i <= parts; ++i) broker_->publish(part_message("tx", "A", i, content));
  header("tx", parts);
  ASSERT_TRUE(completes("tx")) << program.err();
  auto more = (peak_memory(program.pid()) - before) >> 20;
  EXPECT_GT(more, 4) << "it was not measured";
  EXPECT_LT(more, 4 * ahead_mb) << "MB, while " << parts * part_bytes / 1'000'000 << " MB came";
}

TEST_F(ResultTrouble, FourInstancesShareTheWorkAndNeverOneTransaction) {
  std::vector<std::unique_ptr<Running>> instances;
  for (int i = 0; i < 4; ++i) instances.push_back(run());
  constexpr int count = 12;
  std::vector<Message> messages;
  for (int i = 0; i < count; ++i) {
    auto id = start(fmt::format("tx-{}", i));
    for (int ordinal = 1; ordinal <= 5; ++ordinal)
      messages.push_back(part_message(id, "A", ordinal, "x"));
    messages.push_back(header_message(id, R"([{"name":"A","count":5}])"));
  }
  for (int i = 0; i < count; ++i) ASSERT_TRUE(gets_to(fmt::format("tx-{}", i), "awaiting_results"));
  broker_->publish(messages);
  for (int i = 0; i < count; ++i) ASSERT_TRUE(completes(fmt::format("tx-{}", i)));
  EXPECT_EQ(take("notices", count).size(), static_cast<std::size_t>(count));
  EXPECT_EQ(Inspector{engine_}.stale_writes_refused(), 0);
}

/// Another library, in another language, that only knows the documentation.
constexpr const char* producer = R"(
import hashlib, json, sys, pika
connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
channel = connection.channel()
channel.confirm_delivery()
method, properties, body = next(channel.consume("requests"))
channel.basic_ack(method.delivery_tag)
channel.cancel()
request = json.loads(body)
id = request["transactionId"]
def send(queue, envelope, data=None):
    text = json.dumps(dict(envelope, transactionId=id)).encode()
    channel.basic_publish("", queue, text if data is None else text + b"\n" + data,
                          pika.BasicProperties(delivery_mode=2), mandatory=True)
parts = [bytes(range(256)) * 4, b"", b"\n\n\0", bytes(3000000)]
for ordinal, data in enumerate(parts, 1):
    send(request["payloadQueueName"], {"type": "payload", "series": "Bytes", "ordinal": ordinal,
         "totalCount": len(parts), "sha256": hashlib.sha256(data).hexdigest()}, data)
    open(f"{sys.argv[2]}/{ordinal}", "wb").write(data)
send(request["headerQueueName"],
     {"type": "header", "series": [{"name": "Bytes", "count": len(parts)}]})
method, properties, body = next(channel.consume("notices"))
channel.basic_ack(method.delivery_tag)
notice = json.loads(body)
assert properties.message_id == id == notice["transactionId"], notice
assert notice["totalBlobCount"] == len(parts), notice
references = notice["seriesCollection"][0]["blobReferences"]
assert [r["sha256"] for r in references] == [hashlib.sha256(p).hexdigest() for p in parts], notice
)";

TEST_F(ResultTrouble, PartsOfAnIndependentProducerArriveByteForByte) {
  auto running = run();
  start("tx");
  auto plain = broker_address_.substr(0, broker_address_.find('?'));
  auto done = test::run({"/usr/bin/python3", "-c", producer, plain, store_.folder()});
  ASSERT_TRUE(done.ending.ok()) << done.err;
  for (int i = 1; i <= 4; ++i) {
    std::ifstream file{store_.folder() / std::to_string(i), std::ios::binary};
    std::string sent{std::istreambuf_iterator<char>{file}, {}};
    EXPECT_TRUE(blobs_->get(results::blob_key("tx", "Bytes", i)) == sent) << i;
  }
  EXPECT_TRUE(completes("tx"));
}

TEST_F(ResultTrouble, ADeadLetterWhoseOriginalWasNotAcknowledgedLosesNothing) {
  start("tx");
  for (auto queue : {results::header_queue("tx"), results::payload_queue("tx")})
    broker_->declare(queue);
  broker_->publish(Message{results::payload_queue("tx"), "nonsense"});
  part("tx", 1);
  header("tx", 1);
  auto command = command_of(HOLDFAST_PROGRAM, {"--until-empty"});
  auto died = test::run(command, {{"HOLDFAST_KILL_AT", "broker_after_dead_letter"}});
  ASSERT_EQ(died.ending.signal, SIGKILL) << died.err;
  auto finished = test::run(command);
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  EXPECT_EQ(finished.err.find(RabbitmqServer::password), std::string::npos);
  EXPECT_EQ(inspector_.find("tx")->task.state, TaskState::completed);
  EXPECT_GE(messages_in(dead_letter_queue), 1);
}

/// Its lists have sizes and no checksums of ours.
class LostPartsOnS3 : public LostParts {
 protected:
  LostPartsOnS3() { blobs_ = open_blobs(shared_s3_front().address(store_.folder().filename())); }
};

TEST_F(LostPartsOnS3, AreKnownByTheirSize) {
  auto running = run();
  ASSERT_NO_FATAL_FAILURE(record(4));
  ASSERT_TRUE(blobs_->remove(key(1)));
  ASSERT_TRUE(blobs_->remove(key(3)));
  ASSERT_TRUE(blobs_->put(key(3), "of another size"));
  header(4);
  EXPECT_EQ(asked_for(), "1, 3");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  EXPECT_EQ(messages_in("notices"), 0);
  for (int i : {1, 3}) part(i);
  ASSERT_TRUE(completes("tx"));
  expect_whole_notice(4);
}

}  // namespace
}  // namespace holdfast::test
