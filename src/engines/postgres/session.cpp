#include "engines/postgres/session.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace holdfast::postgres {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Announcements of work are not sent more often than this: each makes every worker look.
constexpr milliseconds between_announcements{3};
constexpr const char* work_text = "work";
constexpr const char* control_text = "control";

}  // namespace

Session::Session(std::shared_ptr<const Dialect> dialect, const Events& events, Millis lease)
    : events_{events},
      lease_{lease},
      link_{dialect, Durability::crash_safe, Connection::Purpose::steps},
      channel_{"holdfast/" + dialect->address().schema},
      alarm_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

Session::~Session() {
  {
    std::lock_guard lock{mutex_};
    if (!thread_.joinable()) return;
  }
  thread_.request_stop();
  rouse();
  thread_.join();
}

void Session::rouse() const {
  std::uint64_t one = 1;
  // It can only fail where the alarm is raised already.
  [[maybe_unused]] auto written = ::write(alarm_.get(), &one, sizeof one);
}

void Session::start() {
  if (!thread_.joinable()) thread_ = std::jthread{[this](std::stop_token stop) { run(stop); }};
}

void Session::ask(Step step) {
  std::future<void> done;
  {
    std::lock_guard lock{mutex_};
    start();
    done = commands_.emplace_back(Command{std::move(step), {}}).done.get_future();
  }
  rouse();
  done.get();
}

std::optional<std::string> Session::hold(std::int64_t key, std::optional<WorkerId> worker) {
  std::optional<std::string> run;
  ask([&](Connection& db) {
    if (db.is_pooled()) return;
    db.run("SELECT pg_advisory_lock($1)", key);
    run = db.server_run();
    std::lock_guard lock{mutex_};
    held_[key] = worker;
  });
  return run;
}

void Session::let_go(std::int64_t key) {
  {
    std::lock_guard lock{mutex_};
    if (held_.erase(key) == 0) return;
  }
  try {
    ask([key](Connection& db) { db.run("SELECT pg_advisory_unlock($1)", key); });
  } catch (const StoreError&) {
    // Then the session is gone, and the lock with it.
  }
}

void Session::announce_work() {
  news_.work();
  {
    std::lock_guard lock{mutex_};
    start();
    work_to_announce_ = true;
  }
  rouse();
}

void Session::announce_control() {
  news_.control();
  try {
    ask([this](Connection& db) { db.run("SELECT pg_notify($1, $2)", channel_, control_text); });
  } catch (const StoreError&) {
    // Who did not hear of it sees it when it next renews its leases.
  }
}

Wake Session::wait(Millis timeout) {
  {
    std::lock_guard lock{mutex_};
    start();
  }
  // What was announced before is heard of now, even if there is no time to wait.
  if (timeout == Millis{0}) {
    try {
      ask([](Connection& db) { db.run("SELECT 1"); });
    } catch (const StoreError&) {
      return news_.wait(timeout);
    }
  }
  return news_.wait(timeout);
}

void Session::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    try {
      turn(stop);
      in_trouble_ = false;
    } catch (const StoreError& error) {
      was_lost(error);
    }
  }
  // What was announced last is still to be sent: the next to look may be far away.
  try {
    if (link_.is_up()) obey(link_.get());
    std::lock_guard lock{mutex_};
    if (work_to_announce_ && (link_.is_up() || !in_trouble_))
      link_.get().run("SELECT pg_notify($1, $2)", channel_, work_text);
  } catch (const StoreError&) {
    return;  // they will look by themselves
  }
}

void Session::turn(std::stop_token stop) {
  bool is_new = !link_.is_up();
  auto& db = link_.get();
  if (is_new) greet(db);
  obey(db);
  send_announcement(db);
  hear(db);
  if (stop.stop_requested()) return;
  pollfd sources[] = {{db.socket(), POLLIN, 0}, {alarm_.get(), POLLIN, 0}};
  ::poll(sources, 2, static_cast<int>(time_to_sleep().count()));
  std::uint64_t count = 0;
  [[maybe_unused]] auto lowered = ::read(alarm_.get(), &count, sizeof count);
  if (!db.take_in()) throw ConnectionLost{"the server closed the connection"};
  hear(db);
}

milliseconds Session::time_to_sleep() {
  std::lock_guard lock{mutex_};
  if (!commands_.empty()) return milliseconds{0};
  if (!work_to_announce_) return milliseconds{60'000};
  auto left = announced_ + between_announcements - steady_clock::now();
  return std::clamp(std::chrono::ceil<milliseconds>(left), milliseconds{0}, between_announcements);
}

/// A new connection: nobody knows yet that those live whose locks were lost with the old one.
void Session::greet(Connection& db) {
  if (auto warning = db.clear_text(); !warning.empty() && !std::exchange(said_clear_text_, true))
    events_.emit(StoreWarning{warning});
  if (db.is_pooled()) {
    if (!std::exchange(said_that_we_poll_, true))
      events_.emit(StoreWarning{
          "there is a pooler before the server, so no session lasts: looking every 100 ms instead "
          "of being woken, and the death of a worker is known by its age only"});
    return;
  }
  std::map<std::int64_t, std::optional<WorkerId>> held;
  {
    std::lock_guard lock{mutex_};
    held = held_;
  }
  // A host that is cut off is silent, not dead, and its handlers may run until their leases end. So
  // the server must not give up on the session, and free its locks, before that.
  db.run_once(fmt::format("SET tcp_keepalives_idle = {}",
                          std::chrono::ceil<std::chrono::seconds>(lease_).count() + 10));
  for (const auto& [key, worker] : held) {
    hold_again(db, key);
    if (worker)
      db.run("UPDATE hf.workers SET session = $2 WHERE id = $1 AND died_at IS NULL", *worker,
             db.server_run());
  }
  db.run_once(fmt::format("LISTEN \"{}\"", channel_));
  news_.set_listening(true);
  news_.work();
  news_.control();
}

/// The server may not know yet that the session before this one is gone. Nobody else has this key,
/// so whoever has the lock, and not just shared to see whether it is free, is that session.
void Session::hold_again(Connection& db, std::int64_t key) {
  db.run(
      "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
      " WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objsubid = 1"
      " AND l.mode = 'ExclusiveLock' AND l.granted AND l.pid <> pg_backend_pid()"
      " AND (l.classid::bigint << 32 | l.objid::bigint) = $1",
      key);
  db.run("SELECT pg_advisory_lock($1)", key);
}

void Session::obey(Connection& db) {
  for (;;) {
    std::optional<Command> command;
    {
      std::lock_guard lock{mutex_};
      if (commands_.empty()) return;
      command = std::move(commands_.front());
      commands_.pop_front();
    }
    try {
      command->step(db);
      // Before who asked goes on, so that what was announced before it asked is news to it.
      hear(db);
      command->done.set_value();
    } catch (const StoreError&) {
      command->done.set_exception(std::current_exception());
      if (db.is_broken()) throw;
    }
  }
}

void Session::send_announcement(Connection& db) {
  {
    std::lock_guard lock{mutex_};
    if (!work_to_announce_ || steady_clock::now() < announced_ + between_announcements) return;
    work_to_announce_ = false;
    announced_ = steady_clock::now();
  }
  db.run("SELECT pg_notify($1, $2)", channel_, work_text);
}

void Session::hear(Connection& db) {
  for (const auto& text : db.notifications()) text == control_text ? news_.control() : news_.work();
}

void Session::was_lost(const StoreError& error) {
  link_.drop();
  news_.set_listening(false);
  if (!std::exchange(in_trouble_, true)) {
    // Somebody ended the connection, perhaps: who asks for something need not know if the next try
    // succeeds.
    events_.emit(StoreTrouble{"listening", error.what()});
    return;
  }
  std::deque<Command> failed;
  {
    std::lock_guard lock{mutex_};
    failed.swap(commands_);
  }
  for (auto& command : failed) command.done.set_exception(std::make_exception_ptr(error));
  // Not the alarm: it is up whenever somebody asks, and the link says when the next try is due.
  ::poll(nullptr, 0, 20);
}

}  // namespace holdfast::postgres
