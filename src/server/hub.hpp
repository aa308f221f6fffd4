#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace holdfast::server {

class Subscription;

/// The live events of one store. Events are numbered and the last ones are kept, so that a client
/// that lost its connection gets what it missed. However many clients there are, each event is made
/// once. Safe to use from many threads.
class Hub : public std::enable_shared_from_this<Hub> {
 public:
  Hub();

  /// `data` is JSON without line breaks. With `standing` it is the state of something, and clients
  /// that come later get the last one.
  void publish(std::string_view type, std::string_view data, bool standing);
  /// A client that saw everything up to `last_id`; empty: nothing yet.
  std::shared_ptr<Subscription> subscribe(std::string_view last_id);
  /// Called after every `publish`, in its thread.
  void on_news(std::function<void()> callback);
  int clients() const { return clients_; }

 private:
  friend class Subscription;
  struct Event {
    std::uint64_t number;
    std::string text;
  };
  /// What comes after `next`, which is moved on.
  std::string after(std::uint64_t& next) const;
  std::string reset() const;

  std::string run_;  ///< numbers of another run of the server mean nothing to us
  std::function<void()> on_news_;
  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
  std::map<std::string, std::string, std::less<>> standing_;
  std::atomic<int> clients_ = 0;
};

/// A client's place in the events.
class Subscription {
 public:
  Subscription(std::shared_ptr<Hub> hub, std::string first, std::uint64_t next);
  ~Subscription();
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;

  /// Text to send now; empty: nothing is new.
  std::string take();

 private:
  std::shared_ptr<Hub> hub_;
  std::string first_;
  std::uint64_t next_;
};

}  // namespace holdfast::server
