#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "http/hosts.hpp"
#include "http/left_alone.hpp"
#include "http/transfer.hpp"
#include "http/watched_sockets.hpp"

namespace holdfast::http {

/// Performs jobs: one thread around libcurl's multi interface and epoll. Knows nothing of stores.
class Loop {
 public:
  explicit Loop(const ProcessorOptions& options);
  ~Loop();  ///< what is in flight ends as cancelled
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  using Ticket = std::uint64_t;
  /// From any thread; returns at once. `job.done` is called from the loop's thread.
  Ticket perform(Job job);
  /// From any thread. Its job ends as cancelled, unless it has ended already.
  void cancel(Ticket ticket);

  int in_flight() const { return in_flight_; }
  /// From any thread.
  std::vector<LeftAlone> left_alone() const;

 private:
  struct Order {
    Ticket ticket = 0;
    std::unique_ptr<Job> job{};  ///< none: cancel
  };

  void run(std::stop_token stop);
  void take_orders();
  void begin(Ticket ticket, Job job);
  /// Lets a transfer into its host, or leaves it waiting, or ends it.
  void enter(Ticket ticket);
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
    bool added = false;  ///< to libcurl, and counted in at its host
  };
  std::unordered_map<Ticket, Running> running_;
  std::map<Origin, std::deque<Ticket>> waiting_;
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
