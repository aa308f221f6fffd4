#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <holdfast/engine.hpp>

namespace holdfast::server {

/// Whether a store answers: reads a little of it once a second, in a thread of its own, so that
/// whoever wants to know need not wait for a store that hangs.
class Reach {
 public:
  explicit Reach(Engine engine);

  struct Found {
    bool broken = false;    ///< its storage failed under us: this process can use it no more
    bool silent = false;    ///< it was asked, and has not answered for too long
    std::string trouble{};  ///< in words; empty: it answers
  };
  Found found() const;

 private:
  void run(std::stop_token stop);
  Found ask() const;

  Engine engine_;
  mutable std::mutex mutex_;
  std::condition_variable_any never_;
  Found last_{};
  std::optional<Millis> asked_{};  ///< steady, while there is no answer yet
  std::jthread thread_;            // last: ends before what it uses is gone
};

}  // namespace holdfast::server
