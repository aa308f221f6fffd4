// Measures batches in PostgreSQL beside others on a server that it starts, and lets workers be
// killed over many rows:
//
//     holdfast_batches_bench [--rows N] [--finished N] [--peer]
//     holdfast_batches_bench --kills ROWS
//
// `--peer` runs graphile-worker, too; script/bench --batches installs it first.

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <holdfast/batches.hpp>

#include "batch_rivals.hpp"
#include "support/process.hpp"

namespace holdfast::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int rows = 50'000;
  int finished = 500'000;
  int kills = 0;  ///< rows of the run in which workers are killed
  bool peer = false;
};

/// As somebody would run it: every commit is on disk.
test::PostgresServer::Options as_in_earnest() {
  return {.addresses = {"127.0.0.1"},
          .settings =
              "fsync = on\nfull_page_writes = on\nsynchronous_commit = on\n"
              "shared_buffers = 512MB\nmax_wal_size = 4GB\nautovacuum_naptime = 10s\n"};
}

Batches nothing_to_do(const std::string& address) {
  Settings settings;
  // Workers are killed here whatever they run, so nothing is to be given up for that.
  settings.recovery.max_recovery_attempts = 1'000;
  Batches batches{open(address, settings)};
  batches.on("bench", "nothing", [](const RowAttempt&) { return RowResult{.result = "{}"}; });
  return batches;
}

BatchId submit(Batches& batches, int rows) {
  constexpr int at_once = 20'000;
  NewBatch batch{.app = "bench", .op = "nothing", .wait = true};
  auto id = batches.submit(batch).id;
  for (int line = 1; line <= rows; line += at_once) {
    std::vector<BatchRow> some;
    for (int i = line; i < std::min(line + at_once, rows + 1); ++i)
      some.push_back({i, fmt::format(R"({{"n": {}}})", i)});
    batches.append(id, some, line + at_once > rows);
  }
  return id;
}

/// Rows a second, from the start of a worker until the batch has its result.
double our_rate(const std::string& address, int rows) {
  auto batches = nothing_to_do(address);
  auto id = submit(batches, rows);
  auto begin = Clock::now();
  Worker{batches.work(), {.until_empty = true}}.run();
  std::chrono::duration<double> took = Clock::now() - begin;
  auto ended = batches.status(id).value();
  if (!ended.done_at || ended.rows[BatchStatus::success] != rows)
    throw std::runtime_error{"the batch did not end as it should"};
  return rows / took.count();
}

std::string load() {
  std::string average;
  std::ifstream{"/proc/loadavg"} >> average;
  return average;
}

void compare(const Options& options) {
  test::PostgresServer server{as_in_earnest()};
  fmt::print("{} rows, one worker process each, fsync=on, load before {}\n", options.rows, load());
  auto line = [](const char* what, double rate, double ours) {
    fmt::print("  {:<44} {:>8.0f} rows/s   ours is {:.2f} x\n", what, rate, ours / rate);
  };
  our_rate(server.new_store(), options.rows / 10);  // warms everything up
  auto ours = our_rate(server.new_store(), options.rows);
  fmt::print("  {:<44} {:>8.0f} rows/s\n", "Holdfast", ours);
  line("raw SKIP LOCKED loop with results", raw_rate(server, options.rows), ours);
  auto some = std::max(options.rows / 5, 1'000);
  line("the original's loop", original_rate(server, some, true), ours);
  line("the same, summing up once in the end", original_rate(server, some, false), ours);
  if (options.peer) {
    line("graphile-worker", graphile_rate(server, some, "default"), ours);
    line("graphile-worker, batched", graphile_rate(server, options.rows, "batched"), ours);
  }
  auto address = server.new_store();
  auto empty = our_rate(address, options.rows);
  our_rate(address, options.finished);
  // Again and again, because what the server counts and cleans up meanwhile changes its plans.
  std::vector<double> full(5);
  for (auto& rate : full) rate = our_rate(address, options.rows);
  std::ranges::sort(full);
  fmt::print(
      "  with {} rows finished before: {:.0f} rows/s, {:.2f} x of {:.0f} with none (slowest of {}: "
      "{:.0f})\n",
      options.finished, full[2], full[2] / empty, empty, full.size(), full[0]);
}

/// Many rows, four workers, one of which is killed again and again; nothing may show in the end.
int survive(const Options& options, const std::string& program) {
  test::PostgresServer server{as_in_earnest()};
  auto address = server.address("schema=own batches=alya");
  auto batches = nothing_to_do(address);
  auto begin = Clock::now();
  auto id = submit(batches, options.kills);
  std::vector<test::Process> workers;
  auto worker = [&] { return test::Process{{program, "--work", address}}; };
  for (int i = 0; i < 4; ++i) workers.push_back(worker());
  std::mt19937 dice{std::random_device{}()};
  int kills = 0;
  auto ended = [&] { return batches.list({.id = id, .count_rows = false})[0].done_at.has_value(); };
  while (!test::eventually(ended, std::chrono::milliseconds{100 + dice() % 800})) {
    auto& victim = workers[dice() % workers.size()];
    victim.kill();
    victim = worker();
    ++kills;
  }
  std::chrono::duration<double> took = Clock::now() - begin;
  auto wrong = server.ask(fmt::format(
      "SELECT count(*) FROM generate_series(1, {}) AS l(line) LEFT JOIN alya.batchrows r"
      " ON r.line = l.line AND r.batch = '{}' WHERE r.status IS DISTINCT FROM 'success'"
      " OR r.res IS DISTINCT FROM '{{}}'",
      options.kills, id.text()));
  auto right = server.ask(
      "SELECT (SELECT count(*) FROM alya.batchrows) = nsuccess AND nfailed = 0 AND naborted = 0"
      " AND status = 'success' AND NOT EXISTS (SELECT 1 FROM own.batch_claims WHERE owner IS NOT"
      " NULL) FROM alya.batches");
  fmt::print("{} rows, 4 workers, {} kills, {:.0f} s: {} rows missing or wrong, counters {}\n",
             options.kills, kills, took.count(), wrong, right == "t" ? "right" : "wrong");
  fmt::print(
      "rows a second in each fifth of the way: {}\n",
      server.ask("SELECT string_agg(rate::text, ', ' ORDER BY part) FROM (SELECT part, round("
                 "count(*) / greatest(extract(epoch FROM max(doneat) - min(doneat)), 0.001))"
                 " AS rate FROM (SELECT doneat, ntile(5) OVER (ORDER BY doneat) AS part"
                 " FROM alya.batchrows) r GROUP BY part) p"));
  return wrong == "0" && right == "t" ? 0 : 1;
}

int work(const std::string& address) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  run(nothing_to_do(address));
  return 0;
}

int start(const std::vector<std::string>& words, const std::string& program) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto value = [&] { return i + 1 < words.size() ? std::atoi(words[++i].c_str()) : 0; };
    if (words[i] == "--work" && i + 1 < words.size()) return work(words[i + 1]);
    if (words[i] == "--rows")
      options.rows = value();
    else if (words[i] == "--finished")
      options.finished = value();
    else if (words[i] == "--kills")
      options.kills = value();
    else if (words[i] == "--peer")
      options.peer = true;
    else
      throw std::runtime_error{fmt::format(
          "'{}' is not known; write [--rows N] [--finished N] [--peer] or --kills ROWS", words[i])};
  }
  if (options.kills > 0) return survive(options, program);
  if (options.rows < 1'000 || options.finished < 1)
    throw std::runtime_error{"at least 1000 rows are measured, and 1 before them"};
  compare(options);
  return 0;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // it takes minutes, and somebody watches
  try {
    return holdfast::bench::start({argv + 1, argv + argc}, argv[0]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "holdfast_batches_bench: {}\n", error.what());
    return 2;
  }
}
