#include "batch_rivals.hpp"

#include <sys/stat.h>

#include <chrono>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "batches/original_worker.hpp"
#include "support/process.hpp"

namespace holdfast::bench {

namespace {

using Clock = std::chrono::steady_clock;
using test::OriginalWorker;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>{Clock::now() - begin}.count();
}

struct Tables {
  Tables(test::PostgresServer& server, const std::string& schema)
      : worker{server.connection(), schema} {
    worker.make_tables();
  }
  OriginalWorker worker;
};

/// The numbers of rows that are claimed; those of the step before are ended.
std::string raw_step(OriginalWorker& db, const std::string& before) {
  db.begin();
  db.value(
      "UPDATE batchrows SET status = 'success', doneat = localtimestamp, res = '{}' WHERE rowid ="
      " ANY($1::bigint[])",
      {before});
  auto claimed = db.value(
      "WITH picked AS (SELECT rowid FROM batchrows WHERE status = 'queued' LIMIT 1000 FOR UPDATE"
      " SKIP LOCKED), begun AS (UPDATE batchrows r SET status = 'inprog' FROM picked p"
      " WHERE r.rowid = p.rowid RETURNING r.rowid, r.line, r.input::text AS input)"
      " SELECT array_agg(rowid), array_agg(input) FROM begun");
  db.commit();
  return claimed;
}

test::Environment node_path() {
  return {{"NODE_PATH", std::string{PEER_PACKAGES} + "/node_modules"}};
}

std::vector<std::string> adapter(const std::string& role, const std::string& address,
                                 const std::string& variant, int jobs) {
  return {"/usr/bin/node",
          std::string{PEER_ADAPTERS} + "/graphile_worker.js",
          role,
          address,
          variant,
          std::to_string(jobs)};
}

}  // namespace

double original_rate(test::PostgresServer& server, int rows, bool sums_up) {
  Tables tables{server, fmt::format("original_{}", sums_up)};
  auto& worker = tables.worker;
  auto batch = worker.submit("bench", "nothing", rows);
  auto begin = Clock::now();
  for (auto block = worker.fetch(10); !block.empty(); block = worker.fetch(10)) {
    for (const auto& row : block) worker.succeed(row);
    if (sums_up) worker.sum_up(batch);
  }
  if (!sums_up) worker.sum_up(batch);
  auto took = since(begin);
  if (worker.value("SELECT nsuccess FROM batches") != std::to_string(rows))
    throw std::runtime_error{"the original's loop did not end its batch"};
  return rows / took;
}

double raw_rate(test::PostgresServer& server, int rows) {
  Tables tables{server, "raw_loop"};
  tables.worker.submit("bench", "nothing", rows);
  auto begin = Clock::now();
  std::string claimed = "{}";
  do {
    claimed = raw_step(tables.worker, claimed);
  } while (!claimed.empty());
  return rows / since(begin);
}

double graphile_rate(test::PostgresServer& server, int jobs, const std::string& variant) {
  auto name = "graphile_" + variant;
  server.ask("CREATE DATABASE " + name);
  auto address = fmt::format("postgres://admin@127.0.0.1:{}/{}", server.port(), name);
  auto enqueued = test::run(adapter("producer", address, variant, jobs), node_path(),
                            fmt::format("bulk {}\n", jobs));
  if (!enqueued.ending.ok()) throw std::runtime_error{"graphile-worker: " + enqueued.err};
  // It ends with its input, so that must stay open.
  auto pipe = server.folder() + "/" + name;
  if (::mkfifo(pipe.c_str(), 0600) != 0) throw std::runtime_error{"no pipe " + pipe};
  auto words = adapter("worker", address, variant, jobs);
  test::Process worker{{"/bin/sh", "-c", fmt::format("exec {} 0<>{}", fmt::join(words, " "), pipe)},
                       node_path()};
  auto says = [&](const char* word) {
    if (!test::eventually([&] { return worker.out().find(word) != std::string::npos; },
                          std::chrono::minutes{10}))
      throw std::runtime_error{"graphile-worker: " + worker.err()};
  };
  says("ready");
  auto begin = Clock::now();
  says("done");
  return jobs / since(begin);
}

}  // namespace holdfast::bench
