#pragma once

#include <functional>
#include <optional>
#include <string>

#include <holdfast/task.hpp>

namespace holdfast::server {

class Service;
class Unread;

/// One connection, as the loop that holds it sees it.
class Client {
 public:
  virtual ~Client() = default;
  virtual void begin() = 0;
  virtual void close() = 0;
  /// Since when we wait for it to say what it wants; nothing: it is being served.
  virtual std::optional<Millis> silent_since() const = 0;
  /// For those who listen to events: there are some.
  virtual void news() = 0;
  /// For the same: say something, so that nobody on the way takes it for dead.
  virtual void comment() = 0;
  /// A second has passed: who has waited too long for a store is told so, and who may not listen to
  /// events any more is disconnected.
  virtual void tick() = 0;
};

/// What connections live in.
class Home {
 public:
  virtual ~Home() = default;
  virtual Service& service() = 0;
  /// Does it in a thread that may wait for this store (nothing: for none). False: too many wait
  /// already.
  virtual bool work(std::optional<std::size_t> store, std::function<void()> job) = 0;
  /// Does it in the thread of the network.
  virtual void back(std::function<void()> job) = 0;
  virtual void leave(Client* client) = 0;
  /// This client has shown a credential of that caller, so it does not make room any more for those
  /// that have shown none. False: there is no room for it.
  virtual bool authenticated(Client& client, const std::string& caller) = 0;
  /// What waits to be read by callers, and what callers are sending.
  virtual Unread& answers() = 0;
  virtual Unread& bodies() = 0;
};

}  // namespace holdfast::server
