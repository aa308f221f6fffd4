#include <algorithm>
#include <csignal>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <holdfast/results.hpp>

#include "result_modes.hpp"
#include "samples.hpp"
#include "support/memory.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/rabbitmq_server.hpp"
#include "support/temp_store.hpp"

namespace holdfast::bench {

namespace {

constexpr std::size_t part_bytes = 1'024;

std::string crowd_id(int number) { return fmt::format("crowd-{}", number); }

void publish_crowd(Broker& broker, int results, int parts) {
  const std::string content(part_bytes, 'x');
  std::vector<Message> some;
  for (int i = 0; i < parts; ++i) {
    const auto id = crowd_id(i % results);
    some.push_back(
        {results::payload_queue(id),
         fmt::format(R"({{"type":"payload","transactionId":"{}","series":"A","ordinal":{}}})", id,
                     i / results + 1) +
             "\n" + content});
    if (some.size() < 1'000 && i + 1 < parts) continue;
    broker.publish(some);
    some.clear();
  }
}

void publish_headers(Broker& broker, int results, int parts) {
  std::vector<Message> some;
  for (int i = 0; i < results; ++i)
    some.push_back(
        {results::header_queue(crowd_id(i)),
         fmt::format(
             R"({{"type":"header","transactionId":"{}","series":[{{"name":"A","count":{}}}]}})",
             crowd_id(i), parts / results + (i < parts % results))});
  broker.publish(some);
}

/// Many open results that wait for parts, in some instances.
class Crowd {
 public:
  Crowd(const std::string& program, const test::RabbitmqServer& rabbitmq, const std::string& store,
        const std::filesystem::path& folder, int results, int instances)
      : results_{results}, broker_{open_broker(rabbitmq.address())}, engine_{open(store)} {
    for (int i = 0; i < results; ++i)
      start_transaction(engine_, results::machine_name, crowd_id(i), "{}");
    for (int i = 0; i < instances; ++i)
      instances_.emplace_back(std::vector<std::string>{program, "--collect", store,
                                                       rabbitmq.address(),
                                                       "dir:" + (folder / "parts").string(), "64"});
    wait([](const TransactionRecord& each) { return each.state == "awaiting_results"; });
  }

  /// Parts a second, from the first that is sent until the last is in a ledger.
  double parts_rate(int parts) {
    const auto took = seconds([&] {
      publish_crowd(*broker_, results_, parts);
      const TransactionInspector inspector{engine_};
      wait([&](const TransactionRecord& each) {
        const auto ledger = inspector.ledger(each.id);
        return std::ssize(ledger) >= parts / results_;
      });
    });
    return parts / took;
  }
  /// Results a second, from the first header until the queues of the last are gone.
  double ends_rate(int parts) {
    const auto took = seconds([&] {
      publish_headers(*broker_, results_, parts);
      wait([](const TransactionRecord& each) { return each.task.state == TaskState::completed; });
    });
    return results_ / took;
  }
  /// Of the instance that needed the most.
  std::int64_t peak_mb() const {
    std::int64_t peak = 0;
    for (const auto& each : instances_) peak = std::max(peak, test::peak_memory(each.pid()) >> 20);
    return peak;
  }

 private:
  void wait(const std::function<bool(const TransactionRecord&)>& is_so) {
    const TransactionInspector inspector{engine_};
    int next = 0;  // the others were so before
    auto all = [&] {
      while (next < results_ && is_so(*inspector.find(crowd_id(next)))) ++next;
      return next == results_;
    };
    if (!test::eventually(all, std::chrono::minutes{10}))
      throw std::runtime_error{
          fmt::format("{} does not come on: {}", crowd_id(next), instances_.front().err())};
  }

  int results_;
  std::shared_ptr<Broker> broker_;
  Engine engine_;
  std::vector<test::Process> instances_;
};

struct Bare {
  double parts = 0;    ///< a second
  double removed = 0;  ///< pairs of queues a second
};

/// On the same queues, made in the same way.
Bare bare_crowd(const test::RabbitmqServer& rabbitmq, const std::filesystem::path& folder,
                int results, int parts) {
  const auto broker = open_broker(rabbitmq.address());
  std::vector<std::string> queues;
  for (int i = 0; i < results; ++i) {
    broker->declare(results::header_queue(crowd_id(i)));
    queues.push_back(results::payload_queue(crowd_id(i)));
    broker->declare(queues.back());
  }
  Bare bare{.parts = bare_rate(rabbitmq, folder, parts, queues,
                               [&] { publish_crowd(*broker, results, parts); })};
  bare.removed = results / seconds([&] {
                   for (int i = 0; i < results; ++i) {
                     broker->remove(results::header_queue(crowd_id(i)));
                     broker->remove(queues[static_cast<std::size_t>(i)]);
                   }
                 });
  return bare;
}

}  // namespace

void measure_crowds(const std::string& program, int results, int parts) {
  // Nothing is deleted before the end: for a minute, ext4 makes files slowly where many were.
  const test::TempStore everything;
  auto new_folder = [&, count = 0]() mutable {
    auto folder = everything.folder() / fmt::format("{}", ++count);
    std::filesystem::create_directory(folder);
    return folder;
  };
  for (int open_results : {results, std::max(results / 10, 4), 4}) {
    const auto bare = bare_crowd(test::RabbitmqServer{}, new_folder(), open_results, parts);
    for (int instances : {1, 4}) {
      const test::RabbitmqServer rabbitmq;
      test::PostgresServer postgres{{.settings = "fsync = on\nfull_page_writes = on\n"}};
      Crowd crowd{program, rabbitmq, postgres.new_store(), new_folder(), open_results, instances};
      const auto before = crowd.peak_mb();
      const auto rate = crowd.parts_rate(parts);
      const auto ends = crowd.ends_rate(parts);
      fmt::print(
          "{} parts of {} open results, {} instance{}: {:.0f} parts/s, bare loop {:.0f}/s, {:.0f} "
          "%; {:.0f} results completed/s, their queues alone {:.0f}/s; peak memory {} MB, {} MB "
          "before the parts came\n",
          parts, open_results, instances, instances == 1 ? "" : "s", rate, bare.parts,
          100 * rate / bare.parts, ends, bare.removed, crowd.peak_mb(), before);
    }
  }
}

}  // namespace holdfast::bench
