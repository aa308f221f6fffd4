#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engines/redis/encoded.hpp"
#include "engines/redis/reply.hpp"
#include "engines/redis/transport.hpp"

struct redisReader;

namespace holdfast::redis {

using Command = std::vector<std::string>;

/// What to say after an answer that refuses because the user lacks a right; empty for others.
std::string_view rights_hint(std::string_view answer);

/// One connection, greeted and logged in. Used by one thread at a time.
class Connection {
 public:
  Connection(const Address& address, const Endpoint& endpoint, Millis timeout);

  /// Puts a command into the buffer; `receive` sends what is there.
  void send(std::span<const std::string> command);
  /// The same for a command whose other parts are written already.
  void send(const Encoded& first_parts, const Encoded& others);
  /// Sends it now.
  void flush();
  /// The answer to the oldest command that has none yet. Errors are answers, too.
  Reply receive();
  Reply call(const Command& command);

  /// What a command at start-up is worth nothing without: throws for an answer that is an error.
  void expect(const Command& command, const std::string& trouble);

  /// False: the other side has closed it, or has sent what nobody asked for.
  bool quiet() const;
  /// True: something can be received without waiting.
  bool ready() const;
  int fd() const { return transport_->fd(); }
  const Endpoint& endpoint() const { return endpoint_; }
  /// Says goodbye and waits a moment until the server has noticed, so that who asks for this
  /// connection afterwards is told that it is gone.
  void hang_up();

 private:
  struct FreeReader {
    void operator()(redisReader* reader) const;
  };
  void log_in(const Address& address);
  bool parse(void** reply);

  Endpoint endpoint_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::string unsent_;
};

}  // namespace holdfast::redis
