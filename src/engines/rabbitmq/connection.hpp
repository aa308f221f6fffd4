#pragma once

#include <amqp.h>

#include <optional>
#include <string>

#include <holdfast/broker.hpp>

#include "engines/rabbitmq/address.hpp"

namespace holdfast::rabbitmq {

/// The connection broke or could not be made. Whether what was sent last arrived is not known.
class Disconnected : public BrokerError {
  using BrokerError::BrokerError;
};

/// The server closed the connection, and said why.
class Closed : public Disconnected {
  using Disconnected::Disconnected;
};

/// The broker would not do it, and closed the channel. The connection is good for another one.
class Refused : public BrokerError {
 public:
  Refused(int code, const std::string& text) : BrokerError{text}, code_{code} {}
  int code() const { return code_; }
  /// The queue is not there. One whose node is away is another matter, and has the same code.
  bool no_such_queue() const;

 private:
  int code_;
};

inline std::string_view view(amqp_bytes_t bytes) {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}
inline amqp_bytes_t bytes_of(std::string_view text) {
  // The library never writes to what it is given to send.
  return {text.size(), const_cast<char*>(text.data())};
}

/// One connection with one channel. Of one thread at a time.
class Connection {
 public:
  static constexpr amqp_channel_t channel = 1;

  /// Throws `Disconnected`, or `ConfigError` for certificates that cannot be used. `purpose` is
  /// what an operator sees in the server's list of connections.
  Connection(const Address& address, const std::string& purpose, std::chrono::seconds heartbeat);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  amqp_connection_state_t state() const { return state_; }
  int fd() const { return ::amqp_get_sockfd(state_); }

  /// Instead of the usual time, for an answer to a request.
  void answer_within(std::chrono::seconds time);
  /// After `Refused` there is no channel until this.
  void ensure_channel();
  /// From now on the broker confirms what is published. The numbers that it names count from there.
  void ensure_confirms();
  std::uint64_t count_published() { return ++published_; }
  /// What the last request was answered with. Throws `Refused` or `Disconnected`.
  void check() { check(::amqp_get_rpc_reply(state_)); }

  /// Further channels are looked after by who opens them.
  void open_channel(amqp_channel_t number);
  /// Of each consumer that begins on the channel from now on.
  void limit_prefetch(amqp_channel_t number, int messages);

  void send(amqp_method_number_t method, void* arguments) { send(channel, method, arguments); }
  void send(amqp_channel_t number, amqp_method_number_t method, void* arguments);
  void send(amqp_frame_t& frame);
  /// Keeps the server from taking us for dead while nothing is read.
  void send_heartbeat();
  /// The next frame; nothing: none came in time. What it points to holds until the next call.
  std::optional<amqp_frame_t> read(Millis timeout);
  /// Throws what a frame says that closes the channel or the connection; other frames are fine.
  void check_close(const amqp_frame_t& frame);
  /// Says goodbye, so that everything that was sent before counts.
  void close();

 private:
  void log_in(const Address& address, const std::string& purpose, std::chrono::seconds heartbeat);
  void check(const amqp_rpc_reply_t& reply);
  void check(int status, const char* what);
  [[noreturn]] void refuse(const amqp_channel_close_t& close);
  [[noreturn]] void fail(std::string_view why) const;
  [[noreturn]] void was_closed(const amqp_connection_close_t& close) const;

  std::string name_;
  amqp_connection_state_t state_;
  bool has_channel_ = false;
  bool confirms_ = false;
  std::uint64_t published_ = 0;  ///< on this channel
};

/// Opens the socket of a connection, with TLS if the address says so.
void open_socket(amqp_connection_state_t state, const Address& address);

}  // namespace holdfast::rabbitmq
