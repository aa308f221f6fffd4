#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>
#include <holdfast/inspector.hpp>
#include <holdfast/transactions.hpp>

#include "result_modes.hpp"
#include "samples.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::bench {

namespace {

constexpr int transactions = 50;
constexpr const char* machine_name = "waiting";

enum class Waiting { here, gone };
BOOST_DESCRIBE_ENUM(Waiting, here, gone)

std::int64_t now_ms() {
  return std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string id_of(int number) { return fmt::format("waits-{}", number); }

/// Instances that share transactions which wait for messages that never come. Whoever enters one
/// says so in a file.
class Fleet {
 public:
  Fleet(std::string program, const std::string& store, int size)
      : program_{std::move(program)}, store_{store}, engine_{open(store)} {
    for (int i = 0; i < size; ++i) start_one();
    for (int i = 0; i < transactions; ++i) start_transaction(engine_, machine_name, id_of(i), "{}");
    wait([&] { return entered_since(0).size() == transactions; }, "all are entered");
  }

  /// Kills who has the most; milliseconds until the last of its transactions was entered elsewhere.
  double kill_one() {
    wait([&] { return live_workers() == instances_.size(); }, "all instances are there");
    auto [pid, held] = busiest();
    auto victim = std::ranges::find(instances_, pid, &test::Process::pid);
    if (victim == instances_.end()) throw std::runtime_error{"nobody holds anything"};
    auto killed_at = now_ms();
    victim->kill();
    std::vector<std::int64_t> times;
    wait([&] { return (times = entered_since(killed_at)).size() >= held; }, "they go on elsewhere");
    instances_.erase(victim);
    start_one();
    return static_cast<double>(*std::ranges::max_element(times) - killed_at);
  }

 private:
  static void wait(const std::function<bool()>& condition, const char* what) {
    if (!test::eventually(condition, std::chrono::minutes{1}))
      throw std::runtime_error{fmt::format("waited a minute until {}", what)};
  }
  void start_one() {
    instances_.emplace_back(
        std::vector<std::string>{program_, "--hold", store_, folder_.address(), entered_});
  }
  std::size_t live_workers() const {
    return static_cast<std::size_t>(std::ranges::count(Inspector{engine_}.workers(),
                                                       WorkerState::running, &WorkerStatus::state));
  }
  /// The process that holds the most transactions, and how many these are.
  std::pair<pid_t, std::size_t> busiest() const {
    std::map<WorkerId, std::size_t> held;
    for (const auto& each : inspector_.list({.machine = machine_name}, {.limit = transactions}))
      if (each.task.worker) ++held[*each.task.worker];
    std::pair<pid_t, std::size_t> most{};
    for (const auto& worker : Inspector{engine_}.workers())
      if (held[worker.id] > most.second) most = {worker.pid, held[worker.id]};
    return most;
  }
  std::vector<std::int64_t> entered_since(std::int64_t since) const {
    std::map<std::string, std::int64_t> last;
    std::ifstream file{entered_};
    std::string id;
    for (std::int64_t time = 0; file >> id >> time;)
      if (time >= since) last[id] = time;
    std::vector<std::int64_t> times;
    for (const auto& [name, time] : last) times.push_back(time);
    return times;
  }

  std::string program_, store_;
  test::TempStore folder_;
  std::string entered_ = folder_.folder() / "entered";
  Engine engine_;
  TransactionInspector inspector_{engine_};
  std::vector<test::Process> instances_;
};

}  // namespace

void measure_takeovers(const std::string& program, int kills) {
  test::PostgresServer postgres{{.settings = "fsync = on\nfull_page_writes = on\n"}};
  for (int size : {2, 4}) {
    Fleet fleet{program, postgres.new_store(), size};
    std::vector<double> times;
    for (int kill = 0; kill < kills; ++kill) times.push_back(fleet.kill_one());
    fmt::print(
        "{} instances, {} kills: all of its transactions run elsewhere after {:.0f} ms"
        " (median), {:.0f} ms at worst\n",
        size, kills, median(times), quantile(times, 1));
  }
}

int hold_transactions(const std::vector<std::string>& words) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto engine = open(words.at(0));
  auto broker = open_broker(words.at(1));
  // One line is one write, so those of several processes do not mix.
  std::ofstream entered{words.at(2), std::ios::app};
  std::mutex mutex;
  auto queue_of = [](const Transaction& transaction) { return "to-" + transaction.id(); };
  Transactions<Waiting> waiting{engine, machine_name};
  waiting
      .on(Waiting::here,
          [&](Transaction& transaction) {
            if (!broker->exists(queue_of(transaction))) broker->declare(queue_of(transaction));
            std::lock_guard lock{mutex};
            entered << fmt::format("{} {}\n", transaction.id(), now_ms()) << std::flush;
            return listen();
          })
      .on_messages(
          Waiting::here,
          [&](const Transaction& transaction) { return std::vector{queue_of(transaction)}; },
          [](Transaction&, std::span<Incoming>) { return listen(); })
      .completes(Waiting::gone);
  run(waiting, {.broker = broker});
  return 0;
}

}  // namespace holdfast::bench
