// Measures the HTTP API beside the library, in one run, on SQLite, power-safe:
//
//     holdfast_server_bench [SECONDS] [FOLDER]
//
// First enqueues in batches of 100, by the library and over keep-alive connections; then single
// requests at a thousand a second, half of them enqueues, with how long each took from the moment
// it was due.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "scratch.hpp"
#include "served_store.hpp"
#include "server/wire_call.hpp"

namespace holdfast::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int batch = 100;
constexpr int producers = 4;
constexpr int paced = 1'000;
constexpr int callers = 16;
constexpr const char* payload = R"({"to":"ada@example.org","n":12345})";

/// Does `work` in several threads until time is up; how many tasks a second they say they did.
double rate(double seconds, const std::function<int(int)>& work) {
  std::atomic<std::int64_t> done = 0;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>{seconds};
  std::vector<std::jthread> threads;
  for (int i = 0; i < producers; ++i)
    threads.emplace_back([&, i] {
      while (Clock::now() < end) done += work(i);
    });
  threads.clear();
  return static_cast<double>(done) / std::chrono::duration<double>{Clock::now() - begin}.count();
}

class Bench {
 public:
  explicit Bench(const std::string& parent) : scratch_{parent} {}

  double library(double seconds) {
    return rate(seconds, [&](int) {
      Tasks{engine_}.enqueue_all(std::vector<NewTask>(batch, NewTask{"nothing", payload}));
      return batch;
    });
  }

  double api(double seconds) {
    std::string body = R"({"tasks":[)";
    for (int i = 0; i < batch; ++i)
      body += fmt::format(R"({}{{"kind":"nothing","payload":{}}})", i > 0 ? "," : "", payload);
    const auto text = served_.request("POST", "/v1/tasks", body + "]}");
    std::vector<test::Wire> wires;
    for (int i = 0; i < producers; ++i) wires.emplace_back(served_.port());
    return rate(seconds, [&](int i) {
      auto& wire = wires[static_cast<std::size_t>(i)];
      wire.send(text);
      return wire.answer().status == 201 ? batch : 0;
    });
  }

  /// Milliseconds of each request, in order.
  std::vector<double> latencies(double seconds) {
    const auto enqueue =
        served_.request("POST", "/v1/tasks", R"({"kind":"nothing","payload":{"a":1}})");
    const auto look = served_.request("GET", "/v1/tasks?limit=10");
    const auto begin = Clock::now() + std::chrono::milliseconds{100};
    const int each = static_cast<int>(seconds * paced) / callers;
    std::vector<std::vector<double>> took(callers);
    std::vector<std::jthread> threads;
    for (int caller = 0; caller < callers; ++caller)
      threads.emplace_back([&, caller] {
        test::Wire wire{served_.port()};
        for (int i = 0; i < each; ++i) {
          const auto due = begin + std::chrono::microseconds{1'000'000LL / paced} *
                                       (static_cast<std::int64_t>(i) * callers + caller);
          std::this_thread::sleep_until(due);
          wire.send(i % 2 == 0 ? enqueue : look);
          if (wire.answer().status >= 400) std::abort();
          took[static_cast<std::size_t>(caller)].push_back(
              std::chrono::duration<double, std::milli>{Clock::now() - due}.count());
        }
      });
    threads.clear();
    std::vector<double> all;
    for (const auto& some : took) all.insert(all.end(), some.begin(), some.end());
    std::ranges::sort(all);
    return all;
  }

 private:
  Scratch scratch_;
  Engine engine_ = open("sqlite:" + scratch_.database());
  ServedStore served_{engine_, scratch_.folder() / "server", server::random_secret()};
};

void measure(double seconds, const std::string& folder) {
  Bench bench{folder};
  const auto library = bench.library(seconds);
  const auto api = bench.api(seconds);
  fmt::print("enqueued by the library, batches of {}: {:.0f} tasks/s\n", batch, library);
  fmt::print("enqueued over HTTP, batches of {}: {:.0f} tasks/s, {:.0f} % of that\n", batch, api,
             100 * api / library);
  const auto took = bench.latencies(seconds);
  auto at = [&](double part) {
    return took[static_cast<std::size_t>(part * static_cast<double>(took.size() - 1))];
  };
  fmt::print(
      "{} requests at {}/s: half within {:.1f} ms, 99 % within {:.1f} ms, all within {:.1f} "
      "ms\n",
      took.size(), paced, at(0.5), at(0.99), took.back());
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  holdfast::bench::measure(argc > 1 ? std::atof(argv[1]) : 10, argc > 2 ? argv[2] : ".");
}
