#pragma once

#include <memory>
#include <mutex>

#include "engines/rabbitmq/connection.hpp"

namespace holdfast::rabbitmq {

/// A connection that is made when it is needed, by whoever needs it, one after the other. Nobody
/// looks after it in between, so it has no heartbeats: whether it still works is seen when it is
/// used.
class Line {
 public:
  Line(const Address& address, std::string purpose)
      : address_{address}, purpose_{std::move(purpose)} {}

  /// Calls `use` with the connection; once more with a new one if that was an old one and broke.
  /// So what `use` does may be done twice.
  template <class Use>
  auto with(const Use& use) {
    std::lock_guard lock{mutex_};
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
    if (!connection_)
      connection_ = std::make_unique<Connection>(address_, purpose_, std::chrono::seconds{0});
    connection_->ensure_channel();
    return *connection_;
  }

  const Address& address_;
  std::string purpose_;
  std::mutex mutex_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace holdfast::rabbitmq
