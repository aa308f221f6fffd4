#include "engines/redis/news.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr Millis first_wait{20};
constexpr Millis longest_wait{1'000};

void pause(Millis time, const std::stop_token& stop) {
  auto until = std::chrono::steady_clock::now() + time;
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) ::poll(nullptr, 0, 10);
}

}  // namespace

News::News(Server& server, std::string channel) : server_{server}, channel_{std::move(channel)} {}

News::~News() = default;

std::unique_ptr<Connection> News::subscribe() {
  auto connection = server_.connect();
  connection->expect({"SUBSCRIBE", channel_}, "cannot hear news");
  return connection;
}

void News::count_as_news() {
  std::lock_guard lock{mutex_};
  ++news_.work;
  ++news_.control;
  heard_.notify_all();
}

/// The first wait subscribes before it waits, so that what happens from then on is heard.
void News::begin() {
  std::lock_guard lock{beginning_};
  if (begun_) return;
  begun_ = true;
  std::unique_ptr<Connection> connection;
  try {
    connection = subscribe();
    count_as_news();
  } catch (const StoreError&) {
    connection = nullptr;  // the listener goes on trying
  }
  listener_ = std::jthread{[this](std::stop_token stop, std::unique_ptr<Connection> first) {
                             listen(std::move(stop), std::move(first));
                           },
                           std::move(connection)};
}

void News::listen(std::stop_token stop, std::unique_ptr<Connection> connection) {
  auto wait = first_wait;
  while (!stop.stop_requested()) {
    try {
      if (!connection) {
        connection = subscribe();
        count_as_news();
      }
      wait = first_wait;
      hear(*connection, stop);
    } catch (const StoreError&) {
      // Whoever uses the store meets the same trouble and tells it.
      pause(wait, stop);
      wait = std::min(wait * 2, longest_wait);
    }
    connection.reset();
  }
}

void News::hear(Connection& connection, const std::stop_token& stop) {
  std::stop_callback end{stop, [&] { ::shutdown(connection.fd(), SHUT_RDWR); }};
  while (!stop.stop_requested()) {
    if (!connection.ready()) {
      pollfd source{connection.fd(), POLLIN, 0};
      ::poll(&source, 1, -1);
      continue;
    }
    auto message = connection.receive();
    if (message.size() != 3) continue;
    std::lock_guard lock{mutex_};
    ++(message[2].text() == "control" ? news_.control : news_.work);
    heard_.notify_all();
  }
}

Wake News::wait(Millis timeout) {
  begin();
  auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock{mutex_};
  auto& seen = seen_[std::this_thread::get_id()];
  heard_.wait_until(lock, deadline, [&] {
    return seen.work != news_.work || seen.control != news_.control ||
           seen.interrupts != news_.interrupts;
  });
  seen.interrupts = news_.interrupts;
  if (std::exchange(seen.control, news_.control) != news_.control) return Wake::control;
  if (std::exchange(seen.work, news_.work) != news_.work) return Wake::work;
  return Wake::nothing;
}

void News::interrupt() {
  std::lock_guard lock{mutex_};
  ++news_.interrupts;
  heard_.notify_all();
}

}  // namespace holdfast::redis
