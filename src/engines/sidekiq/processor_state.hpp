#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include <holdfast/http/sidekiq.hpp>

#include "engines/sidekiq/ending.hpp"
#include "engines/sidekiq/lives.hpp"
#include "engines/sidekiq/presence.hpp"
#include "engines/sidekiq/queue_watch.hpp"
#include "engines/sidekiq/recovery.hpp"
#include "http/lifecycle.hpp"
#include "http/loop.hpp"
#include "recovery/patient.hpp"
#include "tasks/kind_breaker.hpp"

namespace holdfast::http {

/// Between Sidekiq's Redis and the loop, which performs. Threads:
///
///     run      takes jobs and hands them to the loop
///     loop     performs
///     desk     settles what has ended, many at a time, for as long as it takes; notes what is
///              about to be sent and must not be sent twice
///     monitor  heartbeats, signals, recovery; ends last
class SidekiqProcessor::State {
 public:
  State(std::string_view address, SidekiqOptions options);

  SidekiqSummary run();
  void rest();
  void quiet();
  void stop();
  ProcessorState state() const { return life_.state(); }
  int in_flight() const;

 private:
  /// A request between the queue that it came from and where it goes next.
  struct Held {
    sidekiq::Hold hold;
    sidekiq::Origin origin;
    std::string host{};  ///< see `sidekiq::TakenJob`
    sidekiq::RequestJob job{};
    std::string sent_url{};  ///< with secret parameters, which nobody is to see
    Loop::Ticket ticket = 0;
    bool ended = false;  ///< it is on the desk, and not to be sent any more
    Answer answer{};
    std::optional<sidekiq::Ending> ending{};  ///< decided before it was performed
    bool stuck = false;                       ///< it could not be settled before
  };
  using HeldPtr = std::shared_ptr<Held>;
  /// Has a place at its host, and waits for the note that it may have been sent.
  struct AboutToSend {
    HeldPtr held;
    Loop::Ticket ticket;
  };
  using Steady = std::chrono::steady_clock;

  void check_server();
  void log(Severity severity, const std::string& sentence);
  /// Of a server that is away, which many say again and again.
  void log_trouble(const std::string& sentence);

  // run
  enum class Look {
    found,
    not_at_the_end,  ///< what was seen is for others, and there is more
    nothing,         ///< or no room for it
    not_now          ///< requests cannot begin here, and the next one is tried later
  };
  void take_jobs();
  Look take_some();
  bool nothing_is_left(const std::optional<Steady::time_point>& back);
  /// Nothing: some that this processor put off are not due yet. Otherwise when the last one was.
  std::optional<Steady::time_point> all_back() const;
  void begin(sidekiq::TakenJob taken);
  /// A secret that is there cannot be read. The request comes back, and fewer are taken until one
  /// begins.
  void could_not_begin(Held& held, const std::string& why);
  void has_begun();
  /// How many may be taken now, of `room`.
  int room_to_begin(int room) const;
  /// Until the next one is tried; nothing: all is fine.
  std::optional<Millis> next_try() const;
  void tried(bool got_one);
  bool is_hopeless() const;
  void read(Held& held);
  Job job_for(const HeldPtr& held);
  void wind_down();

  // desk
  void put_on_desk(HeldPtr held);
  void put_on_desk(AboutToSend request);
  void work_at_desk(std::stop_token stop);
  /// What is on the desk now, as far as it goes at once.
  std::vector<AboutToSend> take_from_desk(std::vector<HeldPtr>& ended);
  /// Those that cannot be noted are not sent.
  void announce(const std::vector<AboutToSend>& requests);
  /// Puts those aside that are stuck. None of them is left.
  void settle(std::vector<HeldPtr>& ended);
  void put_aside(HeldPtr held, const std::string& trouble);
  void count(const sidekiq::Ending& ending, const Held& held);
  void expect_back(double seconds);
  void let_go(const std::vector<HeldPtr>& gone);

  // monitor
  void monitor(std::stop_token stop);
  void be_seen();
  Standing standing() const;
  void beat();
  void put_due_back();
  void look_for_the_dead();
  std::vector<sidekiq::Hold> holds() const;

  SidekiqOptions options_;
  sidekiq::Address address_;
  redis::Server server_;
  sidekiq::Registry registry_;
  sidekiq::Recovery recovery_;
  sidekiq::Lives lives_;
  sidekiq::Presence presence_;
  sidekiq::QueueWatch watch_;

  Patient patient_;
  Lifecycle life_;
  std::atomic<bool> at_once_ = false;
  std::atomic<int> looks_ = 0;
  bool an_answer_was_lost_ = false;
  std::int64_t unreadable_ = 0;
  // Of the desk. They cannot be settled because of where they go, such as a queue that is no list.
  std::deque<HeldPtr> stuck_;
  Steady::time_point stuck_until_{};
  SidekiqSummary summary_{};  // of the desk, but for what the others count
  std::atomic<std::int64_t> recovered_ = 0, processed_ = 0, failed_ = 0;

  mutable std::mutex mutex_;  // guards those below
  std::condition_variable_any changed_;
  std::condition_variable_any pauses_;   // of the monitor, which only its end cuts short
  std::map<std::string, HeldPtr> held_;  // by token
  sidekiq::AtHosts at_hosts_;            // the same by host
  Steady::time_point last_back_{};       // when the last one is due that this processor put off
  Steady::time_point put_back_until_{};  // what was due then is on its queue
  std::deque<HeldPtr> desk_;
  std::deque<AboutToSend> about_to_send_;
  KindBreaker breaker_;

  std::unique_ptr<Loop> loop_;
  std::jthread desk_thread_;
  std::jthread monitor_thread_;
};

}  // namespace holdfast::http
