#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "http/hosts.hpp"
#include "http/left_alone.hpp"
#include "http/lines.hpp"
#include "http/transfer.hpp"
#include "http/watched_sockets.hpp"

namespace holdfast::http {

/// Performs jobs: one thread around libcurl's multi interface and epoll. Knows nothing of stores.
class Loop {
 public:
  /// A quarter of the capacity waits for places at hosts (see `Job::gives_way`).
  explicit Loop(const ProcessorOptions& options) : Loop{options, options.capacity / 4} {}
  Loop(const ProcessorOptions& options, int most_waiting);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  using Ticket = http::Ticket;
  /// From any thread; returns at once. `job.done` is called from the loop's thread.
  Ticket perform(Job job);
  /// From any thread. Its job ends as cancelled, unless it has ended already.
  void cancel(Ticket ticket);
  /// All at once: none of them gets the place of another.
  void cancel(const std::vector<Ticket>& tickets);
  /// From any thread. Sends what was about to be sent (`Job::about_to_send`), unless it has ended.
  void go_on(Ticket ticket);
  /// What is in flight ends as cancelled, and nothing is performed any more. Once.
  void stop();

  int in_flight() const { return in_flight_; }
  /// From any thread.
  std::vector<LeftAlone> left_alone() const;

 private:
  struct Order {
    enum class What { perform, cancel, go_on };

    Ticket ticket = 0;
    What what = What::perform;
    std::unique_ptr<Job> job{};  ///< to perform
  };

  void run(std::stop_token stop);
  void give(const std::vector<Ticket>& tickets, Order::What what);
  void wake_up();
  void take_orders();
  void begin(Ticket ticket, Job job);
  /// Lets a transfer into its host, or leaves it waiting, or ends it.
  void enter(Ticket ticket);
  bool enter_now(Ticket ticket);  ///< false: it has to wait
  Answer come_again(const Transfer& transfer, Millis wait) const;
  void shorten_line(const Origin& origin);
  void send_back_who_waits_too_long();
  void send(Ticket ticket);
  void note_free(const Origin& origin);
  void let_in_freed();
  void let_in(const Origin& origin);
  void collect_finished();
  void hop_ended(Ticket ticket, CURLcode code);
  void end(Ticket ticket, Answer answer);
  /// For those who want to know which hosts are left alone.
  void note_health(const Origin& origin, const std::string& why);
  void wait_for_events();

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long milliseconds, void* self);
  static Millis now();

  ProcessorOptions options_;
  Egress egress_;
  int epoll_;
  WatchedSockets sockets_;
  SpareHandles handles_;
  Site site_;
  Hosts hosts_;

  struct Running {
    std::unique_ptr<Transfer> transfer;
    bool in_line = false;    ///< for a place at its host
    Millis joined{0};        ///< the line, then
    bool inside = false;     ///< counted in there
    Millis entered{0};       ///< since then
    bool announced = false;  ///< see `Job::about_to_send`
    bool added = false;      ///< to libcurl
  };
  std::unordered_map<Ticket, Running> running_;
  Lines lines_;
  Millis look_at_lines_{0};        ///< for those who wait too long
  std::vector<Origin> freed_;      ///< where there may be a place now
  std::vector<Ticket> resolving_;  ///< the first at a host whose name is not known yet

  CURLM* multi_ = nullptr;
  int wake_ = -1;
  Millis timer_due_{-1};
  std::atomic<int> in_flight_ = 0;

  std::mutex mutex_;  // guards the two below
  std::vector<Order> orders_;
  Ticket last_ticket_ = 0;

  mutable std::mutex health_mutex_;  // guards the one below, which only the loop changes
  std::map<Origin, LeftAlone> left_alone_;

  std::jthread thread_;
};

}  // namespace holdfast::http
