// Measures Holdfast on PostgreSQL beside a raw SKIP LOCKED loop on the same server, taking turns.
//
//     holdfast_postgres_bench postgres://user@host/database [TASKS [ROUNDS]]
//     holdfast_postgres_bench postgres://user@host/database course [TASKS]
//
// The second runs that many tasks (a million unless told) through one store without a pause, and
// shows whether claims become slower on the way.

#include <libpq-fe.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>

#include "postgres_course.hpp"

namespace holdfast::bench {

namespace {

constexpr int batch = 1'000;
const std::string payload =
    R"({"to":"ada@example.org","template":"welcome","locale":"en-GB","account":12345})";

template <class F>
double rate(int count, F&& work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return count / took.count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// The least that can be called a queue: one table, no leases, no tokens, no retries. The end of
/// one batch and the claim of the next share a transaction, as with us.
class RawLoop {
 public:
  explicit RawLoop(const std::string& connection) : db_{PQconnectdb(connection.c_str()), PQfinish} {
    run("DROP TABLE IF EXISTS raw_queue");
    run("CREATE TABLE raw_queue (id bigserial PRIMARY KEY, state smallint NOT NULL DEFAULT 0,"
        " payload text NOT NULL)");
    run("CREATE INDEX raw_queue_ready ON raw_queue (id) WHERE state = 0");
  }
  ~RawLoop() { run("DROP TABLE IF EXISTS raw_queue"); }

  void insert_one_by_one(int count) {
    for (int i = 0; i < count; ++i)
      run(fmt::format("INSERT INTO raw_queue (payload) VALUES ('{}')", payload));
  }

  void fill(int count) {
    for (int i = 0; i < count; i += batch)
      run(fmt::format("INSERT INTO raw_queue (payload) SELECT '{}' FROM generate_series(1, {})",
                      payload, batch));
  }

  void drain() {
    std::string last = "0", next;
    do {
      next.clear();
      run("BEGIN");
      run(fmt::format("UPDATE raw_queue SET state = 2 WHERE id IN ({})", last));
      auto rows = run(fmt::format(
          "WITH c AS (SELECT id FROM raw_queue WHERE state = 0 ORDER BY id LIMIT {} FOR UPDATE SKIP"
          " LOCKED) UPDATE raw_queue r SET state = 1 FROM c WHERE r.id = c.id"
          " RETURNING r.id, r.payload",
          batch));
      run("COMMIT");
      for (int i = 0; i < PQntuples(rows.get()); ++i)
        next += fmt::format("{}{}", i ? "," : "", PQgetvalue(rows.get(), i, 0));
      last = next;
    } while (!next.empty());
  }

 private:
  using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;
  Result run(const std::string& sql) {
    Result result{PQexec(db_.get(), sql.c_str()), PQclear};
    auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error{PQerrorMessage(db_.get())};
    return result;
  }

  std::unique_ptr<PGconn, void (*)(PGconn*)> db_;
};

void enqueue(Tasks& tasks, int count) {
  for (int i = 0; i < count; i += batch)
    tasks.enqueue_all(std::vector<NewTask>(batch, NewTask{"noop", payload}));
}

double one_by_one(Tasks& tasks, int threads, int each) {
  auto enqueue_each = [&] {
    for (int i = 0; i < each; ++i) tasks.enqueue(NewTask{"noop", payload});
  };
  return rate(threads * each, [&] {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(enqueue_each);
  });
}

void measure_single_enqueues(Tasks& tasks, const std::string& connection, int singles) {
  RawLoop loop{connection};
  auto raw = rate(singles, [&] { loop.insert_one_by_one(singles); });
  auto one = one_by_one(tasks, 1, singles);
  auto many = one_by_one(tasks, 64, singles / 4);
  fmt::print(
      "enqueue one by one: raw insert {:.0f}/s; 1 thread {:.0f}/s, ratio {:.2f}; 64 threads"
      " {:.0f}/s\n",
      raw, one, one / raw, many);
}

int measure(const std::string& address, int count, int rounds) {
  auto engine = open(address);
  Tasks tasks{engine};
  tasks.on_json("noop", [](Attempt&) { return done; });
  // libpq reads the same address, if nothing in it is ours.
  auto colon = address.find(':');
  auto connection =
      address.substr(colon + 1).starts_with("//") ? address : address.substr(colon + 1);
  std::vector<double> ours, raw, ratios, bulk;
  for (int round = 0; round < rounds; ++round) {
    RawLoop loop{connection};
    loop.fill(count);
    raw.push_back(rate(count, [&] { loop.drain(); }));
    bulk.push_back(rate(count, [&] { enqueue(tasks, count); }));
    ours.push_back(rate(count, [&] { Worker{tasks, {.until_empty = true}}.run(); }));
    if (Inspector{engine}.count({.states = {TaskState::completed}}) != (round + 1) * count)
      throw std::runtime_error{
          "not every task of this round completed: is the store an empty one?"};
    ratios.push_back(ours.back() / raw.back());
    fmt::print("round {}: enqueue {:.0f}/s, process {:.0f}/s, raw loop {:.0f}/s, ratio {:.2f}\n",
               round + 1, bulk.back(), ours.back(), raw.back(), ratios.back());
  }
  measure_single_enqueues(tasks, connection, std::clamp(count / 50, 4, 1'000));
  fmt::print(
      "{} no-op tasks a round, {} rounds, medians: enqueue by 1,000 {:.0f}/s;"
      " claim, run, settle in one worker process {:.0f}/s; raw loop {:.0f}/s; ratio {:.2f}\n",
      count, rounds, median(bulk), median(ours), median(raw), median(ratios));
  return 0;
}

}  // namespace

}  // namespace holdfast::bench

int main(int count, char** words) {
  if (count < 2) {
    fmt::print(stderr, "usage: {0} ADDRESS [TASKS [ROUNDS]]\n       {0} ADDRESS course [TASKS]\n",
               words[0]);
    return 2;
  }
  try {
    if (count > 2 && words[2] == std::string_view{"course"})
      return holdfast::bench::run_course(words[1], count > 3 ? std::atoi(words[3]) : 1'000'000);
    return holdfast::bench::measure(words[1], count > 2 ? std::atoi(words[2]) : 100'000,
                                    count > 3 ? std::atoi(words[3]) : 5);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
