#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/broker.hpp>

namespace holdfast::server {

/// The messages of one store for callers of the API. What a caller received is in its hands for a
/// minute; what it has not acknowledged by then goes back into its queue. Safe to use from many
/// threads.
class MessageDesk {
 public:
  using Open = std::function<std::shared_ptr<Broker>()>;
  /// `open` is called when a broker is first needed; empty: there is none for this store.
  explicit MessageDesk(Open open) : open_{std::move(open)} {}
  ~MessageDesk();

  /// Throws `Problem` where there is none.
  std::shared_ptr<Broker> broker();

  struct Handed {
    std::string receipt;
    DeliveryPtr delivery;
  };
  /// At most so many, and so many bytes; the first one may be larger than that.
  std::vector<Handed> receive(const std::string& queue, int most, std::uint64_t most_bytes,
                              Millis wait);
  /// How many of them were still in the caller's hands. `done`: they do not come again; else they
  /// go back at once.
  int settle(std::span<const std::string> receipts, bool done);
  /// One at a time looks at dead letters, so that nobody sees only those that others do not hold.
  std::unique_lock<std::mutex> dead_letters() { return std::unique_lock{dead_letters_}; }

  static constexpr Millis in_hand{60'000};
  static constexpr std::size_t most_in_hand = 1'000;

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    std::shared_ptr<Consumer> consumer;
    DeliveryPtr delivery;
    Clock::time_point until;
  };
  void sweep(const std::stop_token& stop);

  const Open open_;
  std::mutex dead_letters_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable_any changed_;
  std::shared_ptr<Broker> broker_;
  std::map<std::string, Held> held_;
  std::jthread sweeper_;  ///< from the first message on
};

}  // namespace holdfast::server
