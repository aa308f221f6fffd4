#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "engines/redis/server.hpp"
#include "tasks/task_store.hpp"

namespace holdfast::redis {

/// How processes on one store wake each other: who has news publishes it on a channel that the
/// others subscribe to. Any number of threads may wait at the same time; each hears of everything
/// that happened since its own last wait. What is published while the connection is broken is lost,
/// so every new connection counts as news.
class News {
 public:
  News(Server& server, std::string channel);
  ~News();

  /// Connects at the first use. While there is no connection it only waits.
  Wake wait(Millis timeout);
  /// Ends every wait of this object now, and the next one of a thread that is not waiting.
  void interrupt();

 private:
  struct Seen {
    std::uint64_t work = 0;
    std::uint64_t control = 0;
    std::uint64_t interrupts = 0;
  };
  std::unique_ptr<Connection> subscribe();
  void begin();
  void count_as_news();
  void listen(std::stop_token stop, std::unique_ptr<Connection> connection);
  void hear(Connection& connection, const std::stop_token& stop);

  Server& server_;
  std::string channel_;
  std::mutex beginning_;
  bool begun_ = false;

  std::mutex mutex_;
  std::condition_variable heard_;
  Seen news_;
  std::map<std::thread::id, Seen> seen_;
  std::jthread listener_;
};

}  // namespace holdfast::redis
