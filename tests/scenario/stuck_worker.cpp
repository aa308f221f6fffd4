#include <future>
#include <string>

#include <holdfast/holdfast.hpp>

/// A worker whose handler never comes to an end: `stuck_worker STORE KIND HEARTBEAT_MS MISSED`.
/// The test that starts it lets it stand still.
int main(int count, char** words) {
  if (count != 5) return 2;
  holdfast::Settings settings;
  settings.heartbeat.interval = std::chrono::milliseconds{std::stoi(words[3])};
  settings.heartbeat.stale_threshold_multiplier = std::stoi(words[4]);
  holdfast::Tasks tasks{holdfast::open(words[1], settings)};
  tasks.on_json(words[2], [](holdfast::Attempt&) -> holdfast::Outcome {
    std::promise<void>{}.get_future().wait();
    return holdfast::done;
  });
  holdfast::run(tasks, holdfast::WorkerOptions{.concurrency = 1});
}
