// Measures results that arrive in parts over RabbitMQ beside a bare loop of librabbitmq that takes
// the same messages and writes the same files, and moves of transactions beside workflows of DBOS
// (script/bench --results installs it), in one run, on servers that it starts:
//
//     holdfast_results_bench [SMALL PARTS] [LARGE PARTS] [TRANSACTIONS]
//     holdfast_results_bench --takeover KILLS    how soon another instance has what one had
//     holdfast_results_bench --flow MEGABYTES [azurite]    memory while so much comes
//     holdfast_results_bench --crowd RESULTS PARTS    with so many open, 1 and 4 instances

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <holdfast/results.hpp>

#include "result_modes.hpp"
#include "samples.hpp"
#include "support/postgres_server.hpp"
#include "support/rabbitmq_server.hpp"

namespace holdfast::bench {
namespace {

using test::PostgresServer;
using test::RabbitmqServer;

constexpr int results_at_once = 4;
constexpr int at_once = 10;  ///< transactions and workflows

std::string id_of(int number) { return fmt::format("bench-{}", number); }

std::vector<std::string> payload_queues() {
  std::vector<std::string> queues;
  for (int result = 0; result < results_at_once; ++result)
    queues.push_back(results::payload_queue(id_of(result)));
  return queues;
}

/// Puts `count` parts of `bytes` into the queues of some results; without the header, these wait.
void publish_parts(Broker& broker, int count, std::size_t bytes) {
  const std::string content(bytes, 'x');
  for (int result = 0; result < results_at_once; ++result) {
    broker.declare(results::header_queue(id_of(result)));
    broker.declare(results::payload_queue(id_of(result)));
  }
  std::vector<Message> some;
  for (int i = 0; i < count; ++i) {
    auto id = id_of(i % results_at_once);
    some.push_back(
        {results::payload_queue(id),
         fmt::format(R"({{"type":"payload","transactionId":"{}","series":"A","ordinal":{}}})", id,
                     i / results_at_once + 1) +
             "\n" + content});
    if (some.size() * bytes < (8u << 20) && i + 1 < count) continue;
    broker.publish(some);
    some.clear();
  }
}

double our_rate(const Engine& engine, const std::shared_ptr<Broker>& broker,
                const std::filesystem::path& folder, int count) {
  results::Options options{.broker = broker,
                           .blobs = open_blobs("dir:" + folder.string()),
                           .request_queue = "requests",
                           .notify_queue = "notices"};
  auto machine = results::machine(options);
  for (int result = 0; result < results_at_once; ++result) {
    auto each = count / results_at_once + (result < count % results_at_once);
    broker->publish(Message{
        results::header_queue(id_of(result)),
        fmt::format(
            R"({{"type":"header","transactionId":"{}","series":[{{"name":"A","count":{}}}]}})",
            id_of(result), each)});
    start_transaction(engine, results::machine_name, id_of(result), "{}");
  }
  auto took = seconds([&] {
    TransactionRunner runner{
        engine,
        machine,
        {.broker = broker, .consumer = {.prefetch_bytes = 64u << 20}, .until_empty = true}};
    runner.run();
  });
  auto done = TransactionInspector{engine}.list({.states = {TaskState::completed}}).size();
  if (done < results_at_once) throw std::runtime_error{"not all results completed"};
  return count / took;
}

void compare_parts(const RabbitmqServer& rabbitmq, PostgresServer& postgres, int count,
                   std::size_t bytes, const std::string& name) {
  auto broker = open_broker(rabbitmq.address());
  const test::TempStore folder;
  auto here = folder.folder() / "bare", there = folder.folder() / "ours";
  std::filesystem::create_directory(here);
  publish_parts(*broker, count, bytes);
  auto bare = bare_rate(rabbitmq, here, count, payload_queues(), [] {});
  std::filesystem::remove_all(here);
  publish_parts(*broker, count, bytes);
  auto ours = our_rate(open(postgres.new_store()), broker, there, count);
  fmt::print("parts of {}: {:.0f}/s, bare loop {:.0f}/s, {:.0f} %\n", name, ours, bare,
             100 * ours / bare);
}

enum class Step { first, second, last };
BOOST_DESCRIBE_ENUM(Step, first, second, last)

/// An address of the loopback that is nobody else's, since the port is always the same.
constexpr const char* our_loopback = "127.0.7.1";

/// How many workflows of two steps DBOS ends in a second; 0: it is not installed.
double dbos_rate(const PostgresServer& postgres, int count) {
  auto address = fmt::format("postgresql://admin@{}:{}/postgres", our_loopback, postgres.port());
  auto done =
      test::run({"/usr/bin/env", "node", RESULT_PEERS "/dbos.js", address, std::to_string(count)});
  return done.ending.ok() ? std::atof(done.out.c_str()) : 0;
}

/// The same as that: each move is recorded before the next begins. DBOS records the start of a
/// workflow in the same time, so there is a number with the starts, too.
void measure_moves(PostgresServer& postgres, int count) {
  auto engine = open(postgres.new_store());
  Transactions<Step> steps{engine, "steps"};
  steps.on(Step::first, [](Transaction&) { return go(Step::second); })
      .on(Step::second, [](Transaction&) { return go(Step::last); })
      .completes(Step::last);
  auto starting = seconds([&] {
    std::vector<std::jthread> clients;
    for (int client = 0; client < at_once; ++client)
      clients.emplace_back([&, client] {
        for (int i = client; i < count; i += at_once) steps.start("", i);
      });
  });
  auto running = seconds([&] {
    TransactionRunner{engine, steps.machine(), {.threads = at_once, .until_empty = true}}.run();
  });
  auto moves = 2 * count / running, whole = count / (starting + running);
  fmt::print("moves of transactions: {:.0f}/s; transactions of two, started one by one: {:.0f}/s\n",
             moves, whole);
  if (auto dbos = dbos_rate(postgres, count / 4); dbos > 0)
    fmt::print("steps in DBOS: {:.0f}/s, {:.1f} times; workflows of two: {:.0f}/s, {:.1f} times\n",
               2 * dbos, moves / (2 * dbos), dbos, whole / dbos);
  else
    fmt::print("DBOS is not there to compare with\n");
}

long peak_memory_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1'024;
}

void compare(int small_parts, int large_parts, int transactions) {
  const RabbitmqServer rabbitmq;
  PostgresServer postgres{
      {.addresses = {our_loopback}, .settings = "fsync = on\nfull_page_writes = on\n"}};
  if (small_parts > 0) compare_parts(rabbitmq, postgres, small_parts, 1'024, "1 KiB");
  if (large_parts > 0) compare_parts(rabbitmq, postgres, large_parts, 4u << 20, "4 MiB");
  if (transactions > 0) measure_moves(postgres, transactions);
  fmt::print("peak memory {} MB\n", peak_memory_mb());
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  using namespace holdfast::bench;
  const std::vector<std::string> words{argv + 1, argv + argc};
  auto number = [&](std::size_t which, int otherwise) {
    return words.size() > which ? std::atoi(words[which].c_str()) : otherwise;
  };
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // it takes minutes, and somebody watches
  try {
    auto mode = words.empty() ? std::string{} : words[0];
    const std::vector<std::string> rest{words.begin() + !words.empty(), words.end()};
    if (mode == "--hold") return hold_transactions(rest);
    if (mode == "--collect") return collect_results(rest);
    if (mode == "--flow")
      return measure_flow(argv[0], number(1, 4'096), words.size() > 2 && words[2] == "azurite");
    if (mode == "--crowd")
      measure_crowds(argv[0], number(1, 1'000), number(2, 10'000));
    else if (mode == "--takeover")
      measure_takeovers(argv[0], number(1, 20));
    else
      compare(number(0, 4'000), number(1, 100), number(2, 4'000));
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast_results_bench: {}\n", error.what());
    return 2;
  }
}
