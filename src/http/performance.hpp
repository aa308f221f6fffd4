#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "http/ending.hpp"

namespace holdfast::http {

class Loop;

/// How a request ended that was performed without a store.
struct Performed {
  Outcome outcome{Done{}};  ///< done, failed or held; to be tried again only where it was stopped
  Answer answer{};          ///< of the last attempt
};

/// A request that this process performs by itself, now. No store knows of it, so nobody else can
/// take it, and nothing is left behind that somebody would send later.
class Performance {
 public:
  /// Throws `ConfigError` and `InvalidRequest` for what would keep the request from being sent.
  Performance(Request request, std::string id, Asker asker, Persistence persistence,
              ProcessorOptions options);
  ~Performance();

  /// Told before each wait for another attempt.
  using OnRetry = std::function<void(const std::string& why, Millis wait)>;
  /// Tries as often as `persistence` says. When `stop` is requested, what is in flight is broken
  /// off, and `Cancelled` or the last answer before is what remains.
  Performed run(std::stop_token stop, const OnRetry& on_retry);

 private:
  Answer attempt(std::stop_token stop);
  AttemptFacts facts(int number) const;
  /// Before the next attempt; nothing: there is none.
  std::optional<Millis> wait_after(const Outcome& outcome, int number) const;

  Request request_;
  std::string id_;
  Asker asker_;
  Persistence persistence_;
  ProcessorOptions options_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace holdfast::http
