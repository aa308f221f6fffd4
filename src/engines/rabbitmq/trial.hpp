#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "engines/rabbitmq/connection.hpp"

namespace holdfast::rabbitmq {

/// Finds out whether queues can be read, on a connection of its own: after a crash of the server, a
/// queue may answer `basic.consume` with an error that closes the whole connection, or never, which
/// stops the channel. Each queue is tried on a channel of its own. Of one thread.
class Trial {
 public:
  /// That many channels has the connection, and that many queues are tried at once.
  static constexpr std::size_t most = 32;

  struct Verdict {
    enum class Kind {
      well,
      missing,  ///< there is no such queue
      refused,  ///< the server closed the channel
      silent,   ///< it did not answer
      closed,   ///< the server closed the connection before it answered
      cut,      ///< the connection ended without a word
    };
    Kind kind = Kind::cut;
    std::string why{};  ///< in the server's words, unless it is well
    /// Of a message that was delivered and given back: how often it had been delivered, this time
    /// included. Its next delivery is no sign that anything went wrong. 0: there was none.
    int gave_back = 0;
  };

  explicit Trial(const Address& address) : address_{address} {}

  /// Begins to listen to each, and ends it at once; what was delivered goes back. A queue is silent
  /// when nothing was heard of any of them for `patience`. Throws `Disconnected` where there is no
  /// connection to be had: that says nothing about the queues.
  std::vector<Verdict> listen_to(std::span<const std::string> queues, Millis patience,
                                 const std::stop_token& stop);
  /// Closes the connection until it is needed again.
  void rest() { connection_.reset(); }

 private:
  class Round;
  void prepare(std::size_t channels);
  std::vector<Verdict> try_once(std::span<const std::string> queues, Millis patience,
                                const std::stop_token& stop);

  const Address& address_;
  std::unique_ptr<Connection> connection_{};
  std::vector<bool> open_{};  ///< channels, of which the first has the number 1
};

}  // namespace holdfast::rabbitmq
