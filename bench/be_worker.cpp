#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <boost/describe.hpp>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include <holdfast/holdfast.hpp>

#include "board.hpp"
#include "samples.hpp"
#include "tasks.hpp"
#include "worker_process.hpp"

namespace holdfast::bench {

namespace {

/// The most memory that this process ever had in use. Not from getrusage: that counts what the
/// parent used before it started us.
std::int64_t peak_bytes() {
  std::ifstream status{"/proc/self/status"};
  std::string word;
  while (status >> word) {
    std::int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void wait_for(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  stopped.wait(lock, stop, [] { return false; });
}

int note_start(Board& board, const Place& place) {
  auto began = monotonic_ns();
  auto& slot = board->slots.at(static_cast<std::size_t>(place.slot));
  int start = slot.starts;
  slot.pid = ::getpid();
  if (start < 2) slot.began_ns[static_cast<std::size_t>(start)] = began;
  slot.starts = start + 1;
  return start;
}

void say_how(Tasks& tasks, Board& board) {
  tasks.on_json(noop_kind, [](Attempt&) { return done; });
  tasks.on<Place>(note_kind, [&](const Place& place, Attempt&) {
    note_start(board, place);
    return done;
  });
  // The second time it is done at once: by then it has shown what is measured.
  tasks.on<Place>(block_kind, [&](const Place& place, Attempt& attempt) {
    if (note_start(board, place) == 0) wait_for(attempt.stop_token());
    return done;
  });
}

}  // namespace

int be_worker(const std::vector<std::string>& arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::filesystem::path folder{arguments.at(0)};
  Settings settings;
  if (auto heartbeat = std::stoi(arguments.at(4)))
    settings.heartbeat.interval = std::chrono::milliseconds{heartbeat};
  settings.retention.max_bytes = std::stoll(arguments.at(5));
  Board board{folder / "board"};
  auto engine =
      open("sqlite:" + (folder / "work.db").string() + "?durability=" + arguments.at(1), settings);
  engine.events().subscribe([&](const Event& event) {
    if (std::holds_alternative<WorkerEnlisted>(event)) ++board->enlisted;
  });
  Tasks tasks{engine};
  say_how(tasks, board);
  WorkerOptions options{.queues = {},
                        .concurrency = std::stoi(arguments.at(3)),
                        .until_empty = arguments.at(2) == "until-empty"};
  auto took = seconds([&] { board->completed = run(tasks, options).completed; });
  board->run_ns = static_cast<std::int64_t>(took * 1e9);
  board->peak_bytes = peak_bytes();
  return 0;
}

}  // namespace holdfast::bench
