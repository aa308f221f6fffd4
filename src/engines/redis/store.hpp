#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <holdfast/events.hpp>

#include "engines/redis/arguments.hpp"
#include "engines/redis/keys.hpp"
#include "engines/redis/news.hpp"
#include "engines/redis/server.hpp"
#include "recovery/clock.hpp"
#include "recovery/host_files.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::redis {

/// The server's wall clock, as far as it is known here: hosts may differ by an hour and must not
/// find work late or early for it. Leases and schedules are judged by the server itself.
class ServerClock final : public Clock {
 public:
  WallTime wall() const override { return system_clock().wall() + Millis{ahead_.load()}; }
  Millis steady() const override { return system_clock().steady(); }
  void set(WallTime servers) { ahead_ = (servers - system_clock().wall()).count(); }

 private:
  std::atomic<std::int64_t> ahead_{0};
};

/// What the parts of one open store share.
struct Store {
  Store(Address address, const Clock* test_clock, const Events& event_sink);

  struct KillPoints {
    KillPoint before;
    KillPoint after;
  };

  /// The key, and the time that the script is to take for now: tests bring a clock, otherwise the
  /// server reads its own.
  Arguments arguments() const;
  Reply run(const Script& script, const Arguments& arguments) {
    return server.run(script, arguments.encoded());
  }
  /// For scripts that write. The first one makes the store: its format, and an id of its own.
  Reply run(const KillPoints& points, const Script& script, const Arguments& arguments);
  /// What workers leave on this host. The folder has the store's id for its name, so that two names
  /// of one server lead to the same folder.
  const HostFiles& files();
  const Clock& clock() const { return test_clock ? *test_clock : server_clock; }

  Server server;
  Keys keys;
  const Events& events;
  const Clock* test_clock;
  ServerClock server_clock;
  News news;

 private:
  void make();
  bool find_files(const Value& names);

  std::atomic<bool> made_ = false;
  std::mutex making_;
  std::unique_ptr<HostFiles> files_;
};

/// Of what moves tasks between states, and tasks and transactions between stores.
inline constexpr Store::KillPoints move_points{KillPoint::move_before_commit,
                                               KillPoint::move_after_commit};

}  // namespace holdfast::redis
