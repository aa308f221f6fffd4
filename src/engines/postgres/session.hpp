#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <holdfast/events.hpp>

#include "engines/postgres/link.hpp"
#include "engines/postgres/wake.hpp"
#include "recovery/file_lock.hpp"

namespace holdfast::postgres {

/// A connection of this process that lasts, and a thread that watches it. It holds the advisory
/// locks that prove that somebody lives, hears what other processes announce, and announces what
/// this one does. When it breaks it is made anew, the locks are taken again, and those who wait are
/// woken because something may have been missed.
///
/// The connection is made when something of this is first asked for.
class Session {
 public:
  /// `lease` is how long a worker of this process may be silent.
  Session(std::shared_ptr<const Dialect> dialect, const Events& events, Millis lease);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes a lock that lasts as long as this process, or until `let_go`. Returns the run of the
  /// server that has it; nothing behind a pooler, where no session lasts. If `worker` is given, its
  /// row is told when the lock had to be taken again.
  std::optional<std::string> hold(std::int64_t key, std::optional<WorkerId> worker = {});
  void let_go(std::int64_t key);

  /// New work may be there. Soon, and many together.
  void announce_work();
  /// An operator acted. Everybody has been told when it returns.
  void announce_control();

  /// What announcements are made on.
  const std::string& channel() const { return channel_; }

  Wake wait(Millis timeout);
  /// Ends every wait of this process now, and the next one of a thread that is not waiting.
  void interrupt() { news_.interrupt(); }

 private:
  using Step = std::function<void(Connection&)>;
  struct Command {
    Step step;
    std::promise<void> done;
  };
  void ask(Step step);  ///< done by the thread; throws what it throws
  void start();
  void rouse() const;
  void run(std::stop_token stop);
  void turn(std::stop_token stop);
  void greet(Connection& db);
  void hold_again(Connection& db, std::int64_t key);
  void obey(Connection& db);
  void send_announcement(Connection& db);
  void hear(Connection& db);
  void was_lost(const StoreError& error);
  std::chrono::milliseconds time_to_sleep();

  const Events& events_;
  const Millis lease_;
  Link link_;  // the thread's
  std::string channel_;
  FileDescriptor alarm_;  // something to do for the thread

  std::mutex mutex_;
  std::deque<Command> commands_;
  std::map<std::int64_t, std::optional<WorkerId>> held_;
  bool work_to_announce_ = false;
  std::chrono::steady_clock::time_point announced_{};
  bool said_that_we_poll_ = false;
  bool said_clear_text_ = false;
  bool in_trouble_ = false;
  News news_;
  std::jthread thread_;
};

}  // namespace holdfast::postgres
