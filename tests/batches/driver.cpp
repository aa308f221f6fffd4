// The program that the crash tests of batches start, kill, stop and start again. It does what a
// user's program would, through the public API, and says in a journal what it does.
//
//     batch_driver MODE store=ADDRESS journals=FOLDER [name=value ...]

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <map>

#include <fmt/format.h>

#include <holdfast/batches.hpp>

#include "batches/batch_store.hpp"
#include "support/journal.hpp"
#include "support/process.hpp"

namespace holdfast::test {
namespace {

struct Item {
  int n = 0;
  int ms = 0;
  std::string manner{};
};
BOOST_DESCRIBE_STRUCT(Item, (), (n, ms, manner))

using Given = std::map<std::string, std::string>;

Given arguments(int argc, char** argv) {
  Given given;
  for (int i = 2; i < argc; ++i) {
    std::string text{argv[i]};
    auto equals = text.find('=');
    given[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return given;
}

int number(const Given& given, const std::string& name, int otherwise = 0) {
  auto found = given.find(name);
  return found == given.end() ? otherwise : std::stoi(found->second);
}

/// Rows from 1 to `rows`; the one that `poison` names ends whoever processes it.
NewBatch batch(const Given& given) {
  NewBatch batch{.app = "shop", .op = "price", .then = "priced"};
  for (int line = 1; line <= number(given, "rows", 20); ++line) {
    Item item{line, number(given, "ms"), line == number(given, "poison") ? "poison" : ""};
    batch.rows.push_back({line, to_payload(item)});
  }
  return batch;
}

void add_processor(Batches& batches, const Journal& journal) {
  batches.on<Item>("shop", "price", [&](const Item& item, const RowAttempt& row) {
    journal.say(Said::started, TaskId{row.batch.bytes}, {}, std::to_string(item.n));
    if (item.manner == "poison") std::raise(SIGKILL);
    eventually([&] { return row.stop.stop_requested(); }, Millis{item.ms});
    if (row.stop.stop_requested()) throw std::runtime_error{"stopped"};
    auto result = row_done(item.n * 10);
    result.output["prices"] = std::to_string(item.n * 10);
    return result;
  });
}

/// Says which units ended in this process, as the store accepted it.
void listen(const Engine& engine, const Journal& journal) {
  engine.events().subscribe([&](const Event& event) {
    if (const auto* changed = std::get_if<TaskChanged>(&event)) {
      bool ended = changed->transition.to == TaskState::completed ||
                   changed->transition.to == TaskState::failed;
      if (ended) journal.say(Said::settled, changed->id, changed->transition.token);
    } else if (const auto* stale = std::get_if<StaleWriteRefused>(&event)) {
      journal.say(Said::refused, stale->id, stale->token);
    }
  });
}

int drive(const std::string& mode, const Given& given) {
  Journal journal{given.at("journals")};
  Settings settings;
  settings.heartbeat.interval = Millis{number(given, "interval", 30'000)};
  settings.heartbeat.detection_interval = Millis{number(given, "detection", 60'000)};
  auto engine = open(given.at("store"), settings);
  log_to_stderr(engine, Severity::info);
  listen(engine, journal);
  BatchOptions options{.blobs = open_blobs("dir:" + given.at("journals") + "/../blobs")};
  if (given.contains("liveness")) options.liveness = open_liveness(given.at("liveness"));
  Batches batches{engine, std::move(options)};
  if (mode == "submit") {
    fmt::print("{}\n", batches.submit(batch(given)).id.text());
  } else if (mode == "work") {
    add_processor(batches, journal);
    auto done = run(batches, {.concurrency = number(given, "concurrency", 2),
                              .until_empty = number(given, "until_empty") != 0});
    fmt::print("completed {} refused {}\n", done.completed, done.refused);
  } else if (mode == "recover") {
    auto report = batches.recover();
    while (report.waiting > 0) {
      const auto then = std::chrono::steady_clock::now() + report.look_again;
      eventually([&] { return std::chrono::steady_clock::now() >= then; }, report.look_again);
      report = batches.recover();
    }
    fmt::print("recovered {}\n", report.orphans.taken());
  } else if (mode == "abort") {
    fmt::print("{}\n", batches.abort(BatchId::parse(given.at("batch")).value()));
  } else {
    fmt::print(stderr, "no such mode: {}\n", mode);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace holdfast::test

int main(int argc, char** argv) {
  // A test that ends early must not leave drivers behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    return holdfast::test::drive(argc > 1 ? argv[1] : "", holdfast::test::arguments(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "batch_driver: {}\n", error.what());
    return 1;
  }
}
