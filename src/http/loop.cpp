#include "http/loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/clock.hpp"
#include "recovery/kill_point.hpp"

namespace holdfast::http {

namespace {

constexpr int longest_wait_ms = 1'000;

Loop::Ticket ticket_of(CURL* handle) {
  char* ticket = nullptr;
  curl_easy_getinfo(handle, CURLINFO_PRIVATE, &ticket);
  return reinterpret_cast<Loop::Ticket>(ticket);
}

/// Why nobody answered; what the system said tells more than libcurl does.
std::string why_down(CURL* handle, CURLcode code) {
  long number = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
  if (code == CURLE_COULDNT_CONNECT && number != 0)
    return std::generic_category().message(static_cast<int>(number));
  return curl_easy_strerror(code);
}

bool is_down(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
         code == CURLE_OPERATION_TIMEDOUT || code == CURLE_SSL_CONNECT_ERROR;
}

/// A handshake that came to its end, and was not broken off.
bool is_about_tls(const std::optional<Answer>& answer) {
  const auto* error = answer ? std::get_if<RequestError>(&answer->what) : nullptr;
  return error && error->type == ErrorType::ssl;
}

int checked(int descriptor) {
  if (descriptor < 0) throw Error{"the event loop for requests could not be set up"};
  return descriptor;
}

}  // namespace

Loop::Loop(const ProcessorOptions& options, int most_waiting)
    : options_{options},
      egress_{options_.egress},
      epoll_{checked(::epoll_create1(EPOLL_CLOEXEC))},
      sockets_{epoll_},
      handles_{[this](CURL* handle) { Transfer::set_constants(handle, site_); }},
      site_{options_, egress_, sockets_, handles_},
      hosts_{options_.per_host, options_.breaker, options_.dns_cache},
      lines_{static_cast<std::size_t>(most_waiting)} {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  multi_ = curl_multi_init();
  if (initialised != CURLE_OK || !multi_) throw Error{"libcurl could not be set up"};
  wake_ = checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Loop::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Loop::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  // Counts those in use, too: with fewer than are in flight, none would ever be used again.
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                    static_cast<long>(std::max(options_.capacity, options_.idle_connections)));
  thread_ = std::jthread{[this](std::stop_token stop) { run(stop); }};
}

Loop::~Loop() {
  stop();
  curl_multi_cleanup(multi_);
  ::close(wake_);
  ::close(epoll_);
}

void Loop::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  wake_up();
  thread_.join();
}

void Loop::wake_up() {
  std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(wake_, &one, sizeof one);
}

Millis Loop::now() {
  return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch());
}

Loop::Ticket Loop::perform(Job job) {
  Ticket ticket = 0;
  bool first = false;
  {
    std::lock_guard lock{mutex_};
    ticket = ++last_ticket_;
    first = orders_.empty();
    orders_.push_back({ticket, Order::What::perform, std::make_unique<Job>(std::move(job))});
  }
  if (first) wake_up();
  return ticket;
}

void Loop::cancel(Ticket ticket) { give({ticket}, Order::What::cancel); }
void Loop::cancel(const std::vector<Ticket>& tickets) { give(tickets, Order::What::cancel); }
void Loop::go_on(Ticket ticket) { give({ticket}, Order::What::go_on); }

void Loop::give(const std::vector<Ticket>& tickets, Order::What what) {
  {
    std::lock_guard lock{mutex_};
    for (auto ticket : tickets) orders_.push_back({ticket, what});
  }
  wake_up();
}

void Loop::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    take_orders();
    collect_finished();
    let_in_freed();
    send_back_who_waits_too_long();
    wait_for_events();
  }
  while (!running_.empty()) {
    auto ticket = running_.begin()->first;
    end(ticket, running_.begin()->second.transfer->cancelled());
  }
}

void Loop::take_orders() {
  std::vector<Order> orders;
  {
    std::lock_guard lock{mutex_};
    orders.swap(orders_);
  }
  for (auto& [ticket, what, job] : orders) {
    if (what == Order::What::perform) {
      begin(ticket, std::move(*job));
    } else if (auto at = running_.find(ticket); at != running_.end()) {
      what == Order::What::go_on ? send(ticket) : end(ticket, at->second.transfer->cancelled());
    }
  }
}

void Loop::begin(Ticket ticket, Job job) {
  auto& running = running_[ticket];
  running.transfer = std::make_unique<Transfer>(std::move(job), site_);
  ++in_flight_;
  enter(ticket);
}

void Loop::send(Ticket ticket) {
  auto& running = running_.at(ticket);
  auto& transfer = *running.transfer;
  curl_easy_setopt(transfer.handle(), CURLOPT_PRIVATE, reinterpret_cast<void*>(ticket));
  try {
    transfer.prepare();
  } catch (const InvalidRequest& error) {
    end(ticket, transfer.failed(ErrorType::blocked_address, error.what()));
    return;
  }
  if (!transfer.origin().is_address) resolving_.push_back(ticket);
  kill_point(KillPoint::http_before_send);
  running.added = true;
  curl_multi_add_handle(multi_, transfer.handle());
}

void Loop::collect_finished() {
  // A name that is known now lets others in; there is no call for that, so it is looked at.
  for (auto ticket : std::exchange(resolving_, {})) {
    auto at = running_.find(ticket);
    if (at == running_.end() || !at->second.added) continue;
    const auto& transfer = *at->second.transfer;
    auto origin = transfer.origin();
    if (transfer.resolved()) {
      hosts_.resolved(origin, now());
    } else if (transfer.connected()) {
      hosts_.connected(origin, now());
    } else {
      resolving_.push_back(ticket);
      continue;
    }
    let_in(origin);
  }
  int left = 0;
  while (auto* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    hop_ended(ticket_of(message->easy_handle), message->data.result);
  }
}

void Loop::hop_ended(Ticket ticket, CURLcode code) {
  auto& running = running_.at(ticket);
  auto& transfer = *running.transfer;
  auto origin = transfer.origin();
  bool resolved = transfer.resolved();
  curl_multi_remove_handle(multi_, transfer.handle());
  const bool blocked = transfer.blocked();
  auto answer = transfer.finish(code);
  // Where a server answers at all, it is there. Of one that was not asked, nothing is known.
  const bool down = !blocked && is_down(code) && !is_about_tls(answer);
  auto why = down ? why_down(transfer.handle(), code) : std::string{};
  running.inside = running.added = false;
  if (resolved && !origin.is_address) hosts_.resolved(origin, now());
  if (blocked)
    hosts_.turn_back(origin);
  else
    hosts_.leave(origin, down, running.entered, now(), why);
  if (down || !left_alone_.empty()) note_health(origin, why);
  if (answer) {
    end(ticket, std::move(*answer));
  } else {
    enter(ticket);
  }
  note_free(origin);
}

void Loop::note_free(const Origin& origin) {
  if (!lines_.empty()) freed_.push_back(origin);
}

void Loop::note_health(const Origin& origin, const std::string& why) {
  const auto wait = hosts_.closed_for(origin, now());
  std::lock_guard lock{health_mutex_};
  if (wait <= Millis{0}) {
    left_alone_.erase(origin);
    return;
  }
  std::erase_if(left_alone_,
                [&](const auto& each) { return each.second.until <= system_clock().wall(); });
  left_alone_[origin] = {host_text(origin), system_clock().wall() + wait, hosts_.failures(origin),
                         why};
}

std::vector<LeftAlone> Loop::left_alone() const {
  std::vector<LeftAlone> now;
  std::lock_guard lock{health_mutex_};
  for (const auto& [origin, host] : left_alone_)
    if (host.until > system_clock().wall()) now.push_back(host);
  return now;
}

void Loop::end(Ticket ticket, Answer answer) {
  auto node = running_.extract(ticket);
  auto& running = node.mapped();
  auto origin = running.transfer->origin();
  if (running.in_line) lines_.leave(origin, ticket);
  if (running.added) curl_multi_remove_handle(multi_, running.transfer->handle());
  if (running.inside) hosts_.turn_back(origin);
  --in_flight_;
  running.transfer->job().done(std::move(answer));
  if (running.inside) note_free(origin);
}

void Loop::wait_for_events() {
  int wait = longest_wait_ms;
  if (timer_due_ >= Millis{0})
    wait = static_cast<int>(std::clamp<std::int64_t>((timer_due_ - now()).count(), 0, wait));
  std::array<epoll_event, 256> events;
  int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait);
  int still_running = 0;
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      std::uint64_t wakes = 0;
      [[maybe_unused]] auto got = ::read(wake_, &wakes, sizeof wakes);
      continue;
    }
    if (!sockets_.is_wanted(event.data.fd)) continue;
    int flags = (event.events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                (event.events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                (event.events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(multi_, event.data.fd, flags, &still_running);
  }
  if (timer_due_ >= Millis{0} && now() >= timer_due_) {
    timer_due_ = Millis{-1};
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &still_running);
  }
}

int Loop::on_socket(CURL*, curl_socket_t socket, int what, void* data, void*) {
  auto& sockets = static_cast<Loop*>(data)->sockets_;
  if (what == CURL_POLL_REMOVE) {
    sockets.let_go(socket);
  } else {
    sockets.watch(socket,
                  (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u));
  }
  return 0;
}

int Loop::on_timer(CURLM*, long milliseconds, void* data) {
  auto& self = *static_cast<Loop*>(data);
  self.timer_due_ = milliseconds < 0 ? Millis{-1} : now() + Millis{milliseconds};
  return 0;
}

}  // namespace holdfast::http
