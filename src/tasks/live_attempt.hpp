#pragma once

#include <functional>
#include <vector>

#include <holdfast/attempt.hpp>

#include "recovery/worker_registry.hpp"
#include "tasks/reserved.hpp"
#include "tasks/session.hpp"

namespace holdfast {

/// The attempt as a handler sees it, in a worker.
class LiveAttempt final : public Attempt, public OwnAttempt {
 public:
  /// `note` takes progress and log lines for later, in order; effects go to the store at once.
  using TakeNote = std::function<void(Note)>;
  LiveAttempt(const Job& job, TaskStore& store, Enlistment& enlistment, const Settings& settings,
              TakeNote note, std::function<void()> begun);
  ~LiveAttempt() override;
  LiveAttempt(const LiveAttempt&) = delete;
  LiveAttempt& operator=(const LiveAttempt&) = delete;

  TaskId task() const override { return job_.claimed.lease.id; }
  const std::string& kind() const override { return job_.claimed.kind; }
  const std::string& queue() const override { return job_.claimed.queue; }
  const std::string& payload() const override { return job_.claimed.payload; }
  int number() const override { return job_.claimed.attempt; }
  int max_attempts() const override { return job_.claimed.max_attempts; }
  Token token() const override { return job_.claimed.lease.token; }
  std::stop_token stop_token() const override { return job_.stop.get_token(); }

  void progress(double fraction, std::string_view text) override;
  void log(std::string_view line) override;
  TaskId then_json(std::string kind, std::string payload, TaskOptions options) override;
  std::string record_once(std::string_view key, std::string_view value) override;
  int child_lock() override;
  int open_shared_lock() override;
  void share_lock(int lock) override;
  TaskId add_own(NewTask task) override;
  void begun() override { begun_(); }

  std::vector<NewTask> take_follow_ups() { return std::move(follow_ups_); }
  /// Nobody chose an id for a follow-up.
  bool made_all_ids() const { return made_all_ids_; }

 private:
  TaskId add(NewTask task);
  void expect_still_held();

  const Job& job_;
  TaskStore& store_;
  Enlistment& enlistment_;
  const Settings& settings_;
  TakeNote note_;
  std::function<void()> begun_;
  std::vector<NewTask> follow_ups_;
  bool made_all_ids_ = true;
  int lines_ = 0;
  std::chrono::steady_clock::time_point last_progress_{};
  FileDescriptor child_lock_{};
};

}  // namespace holdfast
