#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "engines/rabbitmq/connection.hpp"

namespace holdfast::rabbitmq {

/// A connection could not be made.
class Unreachable : public Disconnected {
  using Disconnected::Disconnected;
};

/// A connection that is made when it is needed, by whichever thread needs it, one after the other.
/// It is not looked after in between, so it has no heartbeats: whether it still works is seen when
/// it is used.
class Line {
 public:
  /// `patience`: for an answer to what `use` asks.
  Line(const Address& address, std::string purpose, std::chrono::seconds patience)
      : address_{address}, purpose_{std::move(purpose)}, patience_{patience} {}

  std::unique_lock<std::mutex> try_lock() { return std::unique_lock{mutex_, std::try_to_lock}; }
  std::unique_lock<std::mutex> lock() { return std::unique_lock{mutex_}; }

  /// Calls `use` with the connection; once more with a new one if that was an old one and broke.
  /// So what `use` does may be done twice. Needs the lock.
  template <class Use>
  auto with(const Use& use) {
    if (connection_) {
      try {
        return use(ready());
      } catch (const Disconnected&) {
        connection_.reset();
      }
    }
    try {
      return use(ready());
    } catch (const Disconnected&) {
      connection_.reset();
      throw;
    }
  }

 private:
  Connection& ready() {
    try {
      if (!connection_) {
        connection_ = std::make_unique<Connection>(address_, purpose_, std::chrono::seconds{0});
        connection_->answer_within(patience_);
      }
    } catch (const Disconnected& error) {
      throw Unreachable{error.what()};
    }
    connection_->ensure_channel();
    return *connection_;
  }

  const Address& address_;
  std::string purpose_;
  std::chrono::seconds patience_;
  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;
};

/// A few lines, so that a queue that does not answer delays few others. There is one call about a
/// queue at a time. After one that was not answered, the queue has a pause that grows, in which
/// calls about it are refused at once; then it is tried on the last line, which is for such queues
/// alone and is more patient.
class Lines {
 public:
  Lines(const Address& address, const std::string& purpose)
      : lines_{Line{address, purpose, patience}, Line{address, purpose, patience},
               Line{address, purpose, patience},
               Line{address, purpose + " (trouble)", 4 * patience}} {}

  template <class Use>
  auto with(const std::string& queue, const Use& use) {
    const Running running{*this, queue};
    const auto why = trouble_of(queue);
    auto& line = why.empty() ? free_line() : lines_.back();
    auto lock = why.empty() ? line.lock() : line.try_lock();
    if (!lock) throw BrokerError{why};
    try {
      if constexpr (std::is_void_v<decltype(line.with(use))>) {
        line.with(use);
        went_well(queue);
      } else {
        auto result = line.with(use);
        went_well(queue);
        return result;
      }
    } catch (const Unreachable&) {
      throw;  // which says nothing about the queue
    } catch (const Disconnected& error) {
      failed(queue, error.what(), Clock::now() - running.began);
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds patience{5};
  struct Trouble {
    std::string why{};
    Millis pause{};
    Clock::time_point until{};
  };

  /// A call about a queue, from its beginning to its end. It waits for the one before it, and
  /// throws if that takes too long.
  struct Running {
    Running(Lines& all, const std::string& about);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    Lines& lines;
    Clock::time_point began{};
    const std::string queue;
  };

  /// Throws while its pause lasts; empty: none is known.
  std::string trouble_of(const std::string& queue);
  Line& free_line();
  void went_well(const std::string& queue);
  void failed(const std::string& queue, const std::string& why, Clock::duration took);

  std::array<Line, 4> lines_;
  std::mutex mutex_;  // guards everything below
  std::map<std::string, Trouble> troubles_;
  std::condition_variable ended_;
  std::set<std::string> running_;
  std::size_t next_ = 0;
};

}  // namespace holdfast::rabbitmq
