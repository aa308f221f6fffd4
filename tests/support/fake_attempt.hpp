#pragma once

#include <string>
#include <vector>

#include <holdfast/attempt.hpp>

namespace holdfast {

/// An attempt without a worker: what its handler says is kept here.
class FakeAttempt : public Attempt {
 public:
  explicit FakeAttempt(std::string payload = "{}") : payload_{std::move(payload)} {}

  TaskId task() const override { return id_; }
  const std::string& kind() const override { return kind_; }
  const std::string& payload() const override { return payload_; }
  int number() const override { return 2; }
  int max_attempts() const override { return 3; }
  Token token() const override { return {4711}; }
  std::stop_token stop_token() const override { return stop.get_token(); }
  void progress(double, std::string_view) override {}
  void log(std::string_view line) override {
    logged.emplace_back(line);
    if (on_log) on_log(line);
  }
  TaskId then_json(std::string, std::string, TaskOptions) override { return TaskId::make(); }
  std::string record_once(std::string_view, std::string_view value) override {
    return std::string{value};
  }
  int child_lock() override { return lock; }

  std::stop_source stop;
  std::vector<std::string> logged;
  std::function<void(std::string_view)> on_log;
  int lock = -1;

 private:
  TaskId id_ = TaskId::make();
  std::string kind_ = "resize";
  std::string payload_;
};

}  // namespace holdfast
