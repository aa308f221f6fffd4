#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include <holdfast/events.hpp>
#include <holdfast/liveness.hpp>

#include "batches/batch_store.hpp"

namespace holdfast {

/// Leaves word of how a batch stands, with the result of a slow query.
void note_in(Liveness& liveness, BatchStore& store, const BatchRecord& batch);

/// Tells a `Liveness` about one worker, from a thread of its own: what cannot be reached, or is
/// slow, must not keep rows from being processed. It keeps what is to be said, not what was not
/// heard, so however long nobody listened, the next heartbeat says everything.
class Presence {
 public:
  Presence(std::shared_ptr<Liveness> liveness, BatchStore& store, const Events& events,
           const Liveness::Times& times);
  ~Presence();
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  /// The worker goes on under a new id, with nothing.
  void begin(WorkerId worker);
  /// It has these units, or had them a moment ago, and others only if it began them since the last
  /// time.
  void beat(std::span<const TaskId> units);
  void changed(std::span<const Claimed> begun, std::span<const Settlement> ended);
  /// A summary was written, or given up for now: whoever tells others looks.
  void summed_up(BatchId batch);
  /// It has nothing any more. Returns when that is said, or could not be.
  void end();

 private:
  /// What is to be said next.
  struct News {
    std::string worker{};
    bool beat = false;
    bool leave = false;
    std::vector<std::string> former{};  ///< ids that it had before
    std::vector<std::int64_t> held{}, begun{}, ended{};
    std::deque<BatchId> batches{};
  };
  bool anything() const;  ///< with the mutex held
  News take();            ///< with the mutex held
  void tell();
  void say(const News& news);
  void say_all(const News& news);

  std::shared_ptr<Liveness> liveness_;
  BatchStore& store_;
  const Events& events_;
  Liveness::Times times_;
  bool in_trouble_ = false;  // only the thread knows it

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::string worker_;
  std::vector<std::string> former_;
  std::unordered_set<std::int64_t> held_;
  std::unordered_set<std::int64_t> fresh_;          // of these, begun since the last heartbeat
  std::unordered_set<std::int64_t> begun_, ended_;  // not yet said
  std::deque<BatchId> batches_;
  bool beat_ = false;
  bool leave_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace holdfast
