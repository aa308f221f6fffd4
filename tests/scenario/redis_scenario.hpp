#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include <holdfast/diagnosis.hpp>
#include <holdfast/holdfast.hpp>

#include "support/redis_server.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::test {

/// A worker of this process, with a handler that only counts.
class CountingWorker {
 public:
  explicit CountingWorker(const std::string& address, const Settings& settings = {})
      : tasks_{open(address, settings)}, worker_{with_handler()} {
    thread_ = std::jthread{[this] { worker_.run(); }};
  }
  ~CountingWorker() { worker_.hurry(); }
  int ran() const { return ran_; }

 private:
  Tasks& with_handler() {
    return tasks_.on_json("count", [this](Attempt&) -> Outcome {
      ++ran_;
      return done;
    });
  }

  std::atomic<int> ran_{0};
  Tasks tasks_;
  Worker worker_;
  std::jthread thread_;
};

class RedisScenario : public testing::Test {
 protected:
  RedisScenario() { ::setenv("XDG_RUNTIME_DIR", folder_.folder().c_str(), 1); }

  static std::vector<TaskId> enqueue(const Engine& engine, int count) {
    return Tasks{engine}.enqueue_all(
        std::vector<NewTask>(static_cast<std::size_t>(count), NewTask{"count", "{}"}));
  }
  static std::int64_t completed(const Engine& engine) {
    try {
      return Inspector{engine}.count({.states = {TaskState::completed}});
    } catch (const StoreError&) {
      return -1;  // the server is not there yet
    }
  }
  static bool completes(const Engine& engine, std::int64_t count) {
    return eventually([&] { return completed(engine) == count; }, std::chrono::seconds{60});
  }

  TempStore folder_;
};

}  // namespace holdfast::test
