#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "engines/rabbitmq/trial.hpp"

namespace holdfast::rabbitmq {

/// Where queues wait until it is known that they can be read. Those that can be are read on a
/// connection that they share; one that cannot be stays here and is tried again, ever more seldom,
/// without delaying the others. There are three connections, whatever the number of queues:
///
///     fresh    new queues, up to 32 at once, each on its own channel
///     alone    one queue at a time: of those that were on a connection when it was closed, and of
///              those that close theirs
///     silent   those that do not answer, up to 32 at once
class Entrance {
 public:
  /// Called without locks, from threads of the entrance. After `drop` they may still come once.
  struct Ways {
    /// `gave_back`: see `Trial::Verdict`.
    std::function<void(const std::string& queue, int gave_back)> open;
    std::function<void(const std::string& queue)> gone;
    /// Why, in the server's words; empty: it can be read again.
    std::function<void(const std::string& queue, const std::string& why)> unreadable;
    /// No connection can be made.
    std::function<void(const std::string& why)> trouble;
  };

  Entrance(const Address& address, Ways ways);
  ~Entrance();
  Entrance(const Entrance&) = delete;
  Entrance& operator=(const Entrance&) = delete;

  void add(const std::string& queue);
  /// The server ended its consumer. It may be about to go, which cannot be seen at once, so it is
  /// tried several times.
  void watch(const std::string& queue);
  /// It was let in, and failed.
  void put_aside(const std::string& queue, const std::string& why);
  void drop(const std::string& queue);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Group { fresh, alone, silent };
  struct Candidate {
    Group group = Group::fresh;
    Clock::time_point due{};
    Millis pause{};     ///< before it is tried again
    std::string why{};  ///< it is unreadable; told
    int cuts = 0;       ///< how often in a row the connection ended while it was alone on it
    int looks = 0;      ///< it is looked at that often again, though it is well
    bool trying = false;
    bool stale = false;    ///< it was given up and wanted again while it was tried
    bool dropped = false;  ///< it is not wanted any more, and is only remembered

    bool waits_in(Group here) const { return group == here && !trying && !dropped; }
  };
  using Candidates = std::map<std::string, Candidate>;
  /// What is to be told when the mutex is free.
  using Tellings = std::vector<std::function<void()>>;

  void work(const std::stop_token& stop, Group group);
  /// Waits until some are due, or for a while.
  std::vector<std::string> take_due(const std::stop_token& stop, Group group);
  std::vector<std::string> due_now(Group group, Clock::time_point& next);
  void forget_if_harmless(Candidates::iterator at);
  void give_back(const std::vector<std::string>& queues);
  void judge(const std::vector<std::string>& queues, const std::vector<Trial::Verdict>& verdicts);
  void judge_one(const std::string& queue, const Trial::Verdict& verdict, bool was_alone,
                 Tellings& tellings);
  void let_in(const std::string& queue, int gave_back, Tellings& tellings);
  void set_aside(const std::string& queue, Group group, const std::string& why, Tellings& tellings);
  void pause(const std::stop_token& stop, Millis time);

  const Address& address_;
  const Ways ways_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable_any changed_;
  Candidates candidates_;
  /// Queues that were well here and failed where they were let in, and how long they waited last.
  std::map<std::string, Millis> relapsed_;
  std::vector<std::jthread> threads_;  ///< ends first
};

}  // namespace holdfast::rabbitmq
