#include "bare_loop.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include <curl/curl.h>

namespace {

using Clock = std::chrono::steady_clock;

class BareLoop {
 public:
  BareLoop(const std::string& url, const std::vector<std::string>& headers, int count, int at_once)
      : url_{url}, left_{count} {
    for (const auto& header : headers) headers_ = curl_slist_append(headers_, header.c_str());
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_ = curl_multi_init();
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &BareLoop::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &BareLoop::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(at_once));
    for (int i = 0; i < std::min(at_once, count); ++i) begin(curl_easy_init());
  }

  void run() {
    while (open_ > 0) {
      epoll_event events[256];
      int wait = timer_ < 0 ? 1'000 : static_cast<int>(timer_);
      int count = ::epoll_wait(epoll_, events, 256, wait);
      int running = 0;
      for (int i = 0; i < count; ++i) {
        int flags = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                    (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
        curl_multi_socket_action(multi_, events[i].data.fd, flags, &running);
      }
      if (count == 0 || timer_ == 0) {
        timer_ = -1;
        curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
      }
      collect();
    }
  }

 private:
  void begin(CURL* handle) {
    --left_;
    ++open_;
    curl_easy_reset(handle);
    curl_easy_setopt(handle, CURLOPT_URL, url_.c_str());
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &BareLoop::on_body);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_);
    curl_multi_add_handle(multi_, handle);
  }

  void collect() {
    int queued = 0;
    while (auto* message = curl_multi_info_read(multi_, &queued)) {
      auto* handle = message->easy_handle;
      if (message->data.result != CURLE_OK) throw std::runtime_error{"a bare request failed"};
      curl_multi_remove_handle(multi_, handle);
      --open_;
      if (left_ > 0)
        begin(handle);
      else
        curl_easy_cleanup(handle);
    }
  }

  static std::size_t on_body(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
  }
  static int on_socket(CURL*, curl_socket_t socket, int what, void* data, void* known) {
    auto& self = *static_cast<BareLoop*>(data);
    if (what == CURL_POLL_REMOVE) return ::epoll_ctl(self.epoll_, EPOLL_CTL_DEL, socket, nullptr);
    epoll_event event{};
    event.data.fd = socket;
    event.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    ::epoll_ctl(self.epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(self.multi_, socket, &self);
    return 0;
  }
  static int on_timer(CURLM*, long milliseconds, void* data) {
    static_cast<BareLoop*>(data)->timer_ = milliseconds;
    return 0;
  }

  std::string url_;
  curl_slist* headers_ = nullptr;
  int left_;
  int open_ = 0;
  long timer_ = -1;
  CURLM* multi_ = nullptr;
  int epoll_ = -1;
};

}  // namespace

std::chrono::duration<double> run_bare_loop(const std::string& url,
                                            const std::vector<std::string>& headers, int count,
                                            int at_once) {
  auto began = Clock::now();
  BareLoop{url, headers, count, at_once}.run();
  return Clock::now() - began;
}
