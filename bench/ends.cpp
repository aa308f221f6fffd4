// Measures how quickly attempts end that need a decision (failures and retries), beside plain
// completions, on each engine, taking turns. Servers are started for it and sync nothing.
//
//     holdfast_ends_bench [TASKS [ROUNDS]]

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "support/postgres_server.hpp"
#include "support/redis_server.hpp"
#include "support/temp_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::bench {

namespace {

constexpr int at_once = 500;

/// Tasks a second that one thread claims and ends like this.
double rate(const std::string& address, int count, const Settlement& end) {
  const Engine engine = open(address);
  auto& tasks = engine.parts().tasks();
  for (int i = 0; i < count; i += at_once)
    tasks.insert(std::vector<NewTask>(at_once, NewTask{"nothing", R"({"n":12345})"}));
  const auto worker =
      engine.parts().workers().enlist(WorkerProfile{{}, {"nothing"}, 1, Millis{90'000}});
  const ClaimRequest claim{.worker = worker->id(), .kinds = {"nothing"}, .limit = at_once};
  const auto begin = std::chrono::steady_clock::now();
  Exchange exchange{.claim = claim};
  int ended = 0;
  for (;;) {
    auto exchanged = tasks.exchange(exchange);
    ended += static_cast<int>(std::ranges::count(exchanged.settled, Settled::accepted));
    if (exchanged.claimed.empty()) break;
    exchange.settle.clear();
    for (const auto& one : exchanged.claimed) {
      auto settlement = end;
      settlement.lease = one.lease;
      settlement.attempt = one.attempt;
      exchange.settle.push_back(std::move(settlement));
    }
  }
  if (ended != count) throw std::runtime_error{"not all tasks ended"};
  return count / std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Rates {
  std::vector<double> completed, failed, retried, failed_ratio, retried_ratio;
  void add(double completion, double failure, double retry) {
    completed.push_back(completion);
    failed.push_back(failure);
    retried.push_back(retry);
    failed_ratio.push_back(failure / completion);
    retried_ratio.push_back(retry / completion);
  }
};

void measure(int count, int rounds) {
  const Settlement completed{};
  const Settlement failed{.lease = {}, .to = TaskState::failed, .reason = "it broke"};
  const Settlement retried{
      .lease = {}, .to = TaskState::pending, .reason = "it broke", .delay = std::chrono::hours{1}};
  auto& postgres = test::PostgresServer::shared();
  Rates on_sqlite, on_postgres, on_redis;
  for (int i = 0; i < rounds; ++i) {
    const auto sqlite = [&](const Settlement& end) {
      const test::TempStore store;
      return rate("sqlite:" + std::string{store.database()} + "?durability=crash-safe", count, end);
    };
    const auto on_server = [&](const Settlement& end) {
      return rate(postgres.new_store(), count, end);
    };
    const auto redis = [&](const Settlement& end) {
      const test::RedisServer server{{}};
      return rate(server.address(), count, end);
    };
    on_sqlite.add(sqlite(completed), sqlite(failed), sqlite(retried));
    on_postgres.add(on_server(completed), on_server(failed), on_server(retried));
    on_redis.add(redis(completed), redis(failed), redis(retried));
  }
  fmt::print("{:<12}{:>14}{:>14}{:>8}{:>14}{:>8}\n", "", "completed/s", "failed/s", "ratio",
             "retried/s", "ratio");
  const auto print = [](const char* name, const Rates& rates) {
    fmt::print("{:<12}{:>14.0f}{:>14.0f}{:>8.2f}{:>14.0f}{:>8.2f}\n", name, median(rates.completed),
               median(rates.failed), median(rates.failed_ratio), median(rates.retried),
               median(rates.retried_ratio));
  };
  print("SQLite", on_sqlite);
  print("PostgreSQL", on_postgres);
  print("Redis", on_redis);
}

}  // namespace

}  // namespace holdfast::bench

int main(int count, char** words) {
  try {
    holdfast::bench::measure(count > 1 ? std::atoi(words[1]) : 20'000,
                             count > 2 ? std::atoi(words[2]) : 7);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast_ends_bench: {}\n", error.what());
    return 2;
  }
}
