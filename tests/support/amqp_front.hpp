#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

/// Stands between clients and a RabbitMQ server, and knows enough of AMQP to be a server some of
/// whose queues are sick. Everything else is passed on as it is.
class AmqpFront {
 public:
  explicit AmqpFront(int server_port);
  ~AmqpFront();
  AmqpFront(const AmqpFront&) = delete;
  AmqpFront& operator=(const AmqpFront&) = delete;

  int port() const { return port_; }

  enum class Sickness {
    closes,  ///< basic.consume is answered with connection.close, 541 INTERNAL_ERROR
    silent,  ///< it is not answered, nor is queue.declare, and the channel is stuck from then on
  };
  void make_sick(const std::string& queue, Sickness sickness);
  /// What ends consumers is kept from the server, with whatever comes after it, until `let_go`.
  void hold_cancels() { holding_ = true; }
  void let_go() { holding_ = false; }
  /// How often `queue.delete` came by.
  int deletes() const { return deletes_; }
  /// All queues are well, or this one. Channels that are stuck stay so.
  void heal();
  void heal(const std::string& queue);
  /// How many connections there have been, and how many there are.
  int accepted() const { return accepted_; }
  int open() const { return open_; }

 private:
  class Link;
  void accept(const std::stop_token& stop);
  std::optional<Sickness> sickness_of(const std::string& queue) const;

  int server_port_;
  int socket_;
  int port_;
  std::atomic<int> accepted_ = 0, open_ = 0, deletes_ = 0;
  std::atomic<bool> holding_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, Sickness> sick_;
  std::vector<std::jthread> links_;
  std::jthread acceptor_;
};

}  // namespace holdfast::test
