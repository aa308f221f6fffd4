#pragma once

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include <fmt/format.h>
#include <holdfast/results.hpp>

#include "transactions/runner_scenario.hpp"

namespace holdfast::test {

/// The words of a producer.
inline Message header_message(const std::string& id, const std::string& series_json) {
  return {results::header_queue(id),
          fmt::format(R"({{"type":"header","transactionId":"{}","series":{}}})", id, series_json)};
}
inline Message part_message(const std::string& id, const std::string& series, int ordinal,
                            const std::string& bytes, const std::string& more = {}) {
  return {results::payload_queue(id),
          fmt::format(R"({{"type":"payload","transactionId":"{}","series":"{}","ordinal":{}{}}})",
                      id, series, ordinal, more) +
              "\n" + bytes};
}

/// Where transactions are kept: in the file of the test, unless these tests are built for another
/// engine.
std::string address_of_results(const TempStore& store);
/// Where their ledgers are, if not there; else empty.
std::string ledger_of_results(const TempStore& store);
/// Where their messages are; may be the same.
std::string broker_of_results(const TempStore& store);
/// Where their parts are.
std::string blobs_of_results(const TempStore& store);
/// The kill points on the way of a result that are worth a visit there.
std::vector<std::string_view> kill_points_of_results();

/// A store, a broker, a place for blobs, and whoever is at the other ends.
class ResultsScenario : public testing::Test {
 protected:
  ResultsScenario() {
    if (!ledger_address_.empty()) keep_ledgers_in(engine_, ledger_address_);
  }
  /// A server that tests share is left as it was.
  void TearDown() override {
    if (broker_address_ == store_.address()) return;
    for (const auto& each : inspector_.list({.machine = results::machine_name}, {.limit = 500})) {
      broker_->remove(results::header_queue(each.id));
      broker_->remove(results::payload_queue(each.id));
    }
    for (auto queue : {"requests", "notices", "wishes", dead_letter_queue}) broker_->remove(queue);
  }
  results::Options options() const {
    return {
        .broker = broker_, .blobs = blobs_, .request_queue = "requests", .notify_queue = "notices"};
  }
  std::unique_ptr<Running> run(const results::Options& options) const {
    return std::make_unique<Running>(engine_, results::machine(options),
                                     TransactionOptions{.threads = 2, .broker = broker_});
  }
  std::unique_ptr<Running> run() const { return run(options()); }
  /// The program that does the same.
  std::vector<std::string> command_of(const std::string& program,
                                      const std::vector<std::string>& more) const {
    std::vector<std::string> command{
        program,    "--store",        address_,  "results",      "run",
        "--broker", broker_address_,  "--blobs", blobs_address_, "--request-queue",
        "requests", "--notify-queue", "notices"};
    if (!ledger_address_.empty()) command.insert(command.end(), {"--ledger", ledger_address_});
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  std::string start(const std::string& id) const {
    return start_transaction(engine_, results::machine_name, id, R"({"rule":7})");
  }
  bool gets_to(const std::string& id, const std::string& state) const {
    return eventually([&] { return inspector_.find(id)->state == state; },
                      std::chrono::seconds{40});
  }
  bool completes(const std::string& id) const {
    return eventually([&] { return inspector_.find(id)->task.state == TaskState::completed; },
                      std::chrono::seconds{60});
  }
  bool fails(const std::string& id) const {
    return eventually([&] { return inspector_.find(id)->task.state == TaskState::failed; },
                      std::chrono::seconds{60});
  }
  results::Progress progress(const std::string& id) const {
    return results::progress_of(*inspector_.find(id), inspector_.ledger(id));
  }
  std::int64_t messages_in(const std::string& queue) const {
    return broker_->messages(queue).value_or(-1);
  }
  /// Takes everything out of a queue.
  std::vector<DeliveryPtr> take(const std::string& queue, std::size_t count) const {
    auto consumer = broker_->consume({});
    consumer->listen(queue);
    std::vector<DeliveryPtr> all;
    eventually([&] {
      auto got = consumer->receive(Millis{100}).deliveries;
      consumer->acknowledge(got);
      all.insert(all.end(), got.begin(), got.end());
      return all.size() >= count;
    });
    return all;
  }
  std::vector<std::string> reasons_of_dead_letters(std::size_t count) const {
    std::vector<std::string> reasons;
    for (const auto& letter : take(dead_letter_queue, count))
      reasons.push_back(letter->headers().at(dead_letter_reason));
    return reasons;
  }

  TempStore store_;
  std::string address_ = address_of_results(store_);
  Engine engine_ = open(address_);
  std::string ledger_address_ = ledger_of_results(store_);
  TransactionInspector inspector_{engine_};
  std::string broker_address_ = broker_of_results(store_);
  std::shared_ptr<Broker> broker_ =
      address_ == broker_address_ ? open_broker(engine_) : open_broker(broker_address_);
  std::string blobs_address_ = blobs_of_results(store_);
  std::shared_ptr<BlobStore> blobs_ = open_blobs(blobs_address_);
};

}  // namespace holdfast::test
