// Measures tasks in Redis beside the least that can be called a queue in Redis, in one run, on a
// server that it starts:
//
//     holdfast_redis_bench [COUNT] [--append-only]

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/redis_server.hpp"

namespace holdfast::bench {
namespace {

using test::RedisServer;

double seconds(const auto& work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>{std::chrono::steady_clock::now() - begin}.count();
}

std::vector<NewTask> some_tasks(int count) {
  return std::vector<NewTask>(static_cast<std::size_t>(count),
                              NewTask{"nothing", R"({"to":"ada@example.org","n":12345})"});
}

/// A list of payloads and a hash of what is being worked on: no leases, no tokens, no priorities,
/// no history.
const redis::Script raw_step{"raw", R"lua(
for i = 2, #ARGV do redis.call('HDEL', KEYS[1] .. ':running', ARGV[i]) end
local ids = redis.call('LPOP', KEYS[1] .. ':ready', ARGV[1]) or {}
local rows = {}
for i, id in ipairs(ids) do
  rows[i] = { id, redis.call('GET', KEYS[1] .. ':payload:' .. id) }
  redis.call('HSET', KEYS[1] .. ':running', id, 1)
end
return rows
)lua"};

double raw_rate(const std::string& address, int count) {
  redis::Server server{redis::Address::parse(address)};
  for (int first = 0; first < count; first += 1'000) {
    std::vector<redis::Command> commands;
    for (int i = first; i < first + 1'000; ++i) {
      commands.push_back(
          {"SET", fmt::format("{{raw}}:payload:{}", i), R"({"to":"ada@example.org","n":12345})"});
      commands.push_back({"RPUSH", "{raw}:ready", std::to_string(i)});
    }
    server.call_all(commands);
  }
  auto took = seconds([&] {
    redis::Command step{"{raw}", "1000"};
    for (bool more = true; more;) {
      auto rows = server.run(raw_step, step);
      step.resize(2);
      for (std::size_t i = 0; i < rows.size(); ++i) step.push_back(rows[i][0].string());
      more = rows.size() > 0;
    }
  });
  return count / took;
}

/// Seconds of processor time: what a noisy machine does not change.
double server_cpu(const std::string& address) {
  redis::Server server{redis::Address::parse(address)};
  auto info = server.call({"INFO", "cpu"}).string();
  auto value = [&](const std::string& name) {
    return std::atof(info.c_str() + info.find(name) + name.size());
  };
  return value("used_cpu_sys:") + value("used_cpu_user:");
}

double own_cpu() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

struct Rates {
  double single = 0, bulk = 0, processing = 0, raw = 0;
  double server_us = 0, worker_us = 0;  ///< of processor time for each task that is processed
};

Rates measure(const std::string& address, int count) {
  Rates rates;
  rates.raw = raw_rate(address, count);
  Tasks tasks{open(address)};
  tasks.on_json("nothing", [](Attempt&) -> Outcome { return done; });
  int singles = count / 50;
  rates.single = singles / seconds([&] {
                   for (int i = 0; i < singles; ++i) tasks.enqueue_all(some_tasks(1));
                 });
  int rest = count - singles;
  rates.bulk = rest / seconds([&] {
                 for (int left = rest; left > 0; left -= 1'000)
                   tasks.enqueue_all(some_tasks(std::min(left, 1'000)));
               });
  Worker worker{tasks, {.until_empty = true}};
  WorkerSummary summary;
  auto server_before = server_cpu(address), own_before = own_cpu();
  auto took = seconds([&] { summary = worker.run(); });
  rates.worker_us = 1e6 * (own_cpu() - own_before) / count;
  rates.server_us = 1e6 * (server_cpu(address) - server_before) / count;
  if (summary.completed != count) throw std::runtime_error{"not all tasks were completed"};
  rates.processing = count / took;
  return rates;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  using namespace holdfast::bench;
  int count = 100'000;
  bool append_only = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string{argv[i]} == "--append-only")
      append_only = true;
    else
      count = std::max(std::atoi(argv[i]) / 1'000 * 1'000, 1'000);
  }
  try {
    fmt::print("{} tasks, one worker process, {}\n", count,
               append_only ? "appendonly yes, appendfsync always" : "no persistence");
    fmt::print("{:>12} {:>12} {:>12} {:>12} {:>8} {:>20}\n", "one by one/s", "bulk/s",
               "processed/s", "raw loop/s", "ratio", "CPU us server+worker");
    for (int round = 0; round < 3; ++round) {
      RedisServer server{{.append_only = append_only}};
      auto rates = measure(server.address(), count);
      fmt::print("{:>12.0f} {:>12.0f} {:>12.0f} {:>12.0f} {:>8.2f} {:>12.1f} + {:.1f}\n",
                 rates.single, rates.bulk, rates.processing, rates.raw,
                 rates.processing / rates.raw, rates.server_us, rates.worker_us);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast_redis_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}
