#pragma once

#include <gmock/gmock.h>

#include <thread>

#include <holdfast/transactions.hpp>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

enum class Order { placed, paid, shipped, refused };
BOOST_DESCRIBE_ENUM(Order, placed, paid, shipped, refused)

/// A runner in a thread of its own; drained at the end.
class Running {
 public:
  Running(const Engine& engine, const StateMachine& machine, TransactionOptions options = {})
      : runner_{engine, machine, std::move(options)}, thread_{[this] { runner_.run(); }} {}
  ~Running() { runner_.drain(); }
  void drain() { runner_.drain(); }

 private:
  TransactionRunner runner_;
  std::jthread thread_;
};

class RunnerScenario : public testing::Test {
 protected:
  using Rules = States<Order>::Rules;

  TaskState task_state(const std::string& id) const { return inspector_.find(id)->task.state; }
  bool becomes(const std::string& id, TaskState state) const {
    return eventually([&] { return task_state(id) == state; }, std::chrono::seconds{40});
  }
  bool gets_to(const std::string& id, const std::string& state) const {
    return eventually([&] { return inspector_.find(id)->state == state; },
                      std::chrono::seconds{40});
  }
  std::vector<std::string> path(const std::string& id) const {
    std::vector<std::string> states;
    for (const auto& move : inspector_.moves(id)) states.push_back(move.to);
    return states;
  }
  /// Runs until nothing is left.
  WorkerSummary work_off(TransactionOptions options = {}) {
    options.until_empty = true;
    return TransactionRunner{engine_, orders_.machine(), options}.run();
  }

  TempStore store_;
  Engine engine_ = open(store_.address());
  TransactionInspector inspector_{engine_};
  Transactions<Order> orders_{engine_, "orders"};
};

}  // namespace holdfast::test
