#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

#include <fmt/format.h>
#include <holdfast/results.hpp>

#include "blobs/servers.hpp"
#include "result_modes.hpp"
#include "support/memory.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/rabbitmq_server.hpp"
#include "support/temp_store.hpp"

namespace holdfast::bench {

namespace {

/// One result at a time has about so many bytes, so that the disk need not hold all of them.
constexpr std::uint64_t of_one_result = 512u << 20;
constexpr int prefetch_mb = 16;

class Flow {
 public:
  Flow(std::string program, const test::RabbitmqServer& rabbitmq, const std::string& store,
       const std::string& blobs)
      : blobs_{open_blobs(blobs)}, broker_{open_broker(rabbitmq.address())}, engine_{open(store)} {
    collector_ = std::make_unique<test::Process>(
        std::vector<std::string>{std::move(program), "--collect", store, rabbitmq.address(), blobs,
                                 std::to_string(prefetch_mb)});
  }

  /// One result of so many parts, from the request to the notice.
  void send_one(int number, int parts, std::size_t bytes) {
    auto id = fmt::format("flow-{}", number);
    start_transaction(engine_, results::machine_name, id, "{}");
    wait(id, [](const TransactionRecord& found) { return found.state == "awaiting_results"; });
    auto queue = results::payload_queue(id);
    const auto content = "\n" + std::string(bytes, 'x');
    for (int i = 1; i <= parts; ++i) {
      // The broker need not hold much either.
      auto enough = static_cast<std::int64_t>(of_one_result / 4 / bytes);
      test::eventually([&] { return broker_->messages(queue).value_or(0) <= enough; },
                       std::chrono::minutes{5});
      broker_->publish(Message{
          queue,
          fmt::format(R"({{"type":"payload","transactionId":"{}","series":"A","ordinal":{}}})", id,
                      i) +
              content});
    }
    broker_->publish(Message{
        results::header_queue(id),
        fmt::format(
            R"({{"type":"header","transactionId":"{}","series":[{{"name":"A","count":{}}}]}})", id,
            parts)});
    wait(id,
         [](const TransactionRecord& found) { return found.task.state == TaskState::completed; });
    for (const auto& blob : blobs_->list(id + "/")) blobs_->remove(blob.key);
  }
  std::int64_t peak_mb() const { return test::peak_memory(collector_->pid()) >> 20; }

 private:
  void wait(const std::string& id, const std::function<bool(const TransactionRecord&)>& is_so) {
    TransactionInspector inspector{engine_};
    if (!test::eventually([&] { return is_so(*inspector.find(id)); }, std::chrono::minutes{10}))
      throw std::runtime_error{fmt::format("{} does not come on: {}", id, collector_->err())};
  }

  std::shared_ptr<BlobStore> blobs_;
  std::shared_ptr<Broker> broker_;
  Engine engine_;
  std::unique_ptr<test::Process> collector_;
};

}  // namespace

int measure_flow(const std::string& program, int megabytes, bool to_azurite) {
  const test::RabbitmqServer rabbitmq;
  test::PostgresServer postgres;
  const test::TempStore folder;
  const auto blobs =
      to_azurite ? test::shared_azurite().address() : "dir:" + (folder.folder() / "blobs").string();
  int number = 0;
  for (std::size_t bytes : {std::size_t{4} << 20, std::size_t{250'000'000}}) {
    Flow flow{program, rabbitmq, postgres.new_store(), blobs};
    flow.send_one(++number, 1, 1'000);
    auto before = flow.peak_mb();
    auto parts = static_cast<int>(std::max<std::uint64_t>(of_one_result / bytes, 1));
    std::uint64_t flowed = 0;
    auto began = std::chrono::steady_clock::now();
    while (flowed < std::uint64_t(megabytes) << 20) {
      flow.send_one(++number, parts, bytes);
      flowed += static_cast<std::uint64_t>(parts) * bytes;
    }
    auto peak = flow.peak_mb();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fmt::print(
        "{} MB in parts of {} MB to {}, {} MB taken ahead: peak memory {} MB, {} MB before that;"
        " {:.0f} MB/s\n",
        flowed >> 20, bytes / 1'000'000, to_azurite ? "Azurite" : "files", prefetch_mb, peak,
        before, static_cast<double>(flowed >> 20) / took.count());
    if (peak - before > 4 * prefetch_mb) return 1;
  }
  return 0;
}

int collect_results(const std::vector<std::string>& words) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto broker = open_broker(words.at(1));
  results::Options options{.broker = broker,
                           .blobs = open_blobs(words.at(2)),
                           .request_queue = "requests",
                           .notify_queue = "notices"};
  auto prefetch = static_cast<std::uint64_t>(std::stoi(words.at(3))) << 20;
  run(open(words.at(0)), results::machine(options),
      {.broker = broker, .consumer = {.prefetch_bytes = prefetch}});
  return 0;
}

}  // namespace holdfast::bench
