#include "support/amqp_front.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "support/loopback.hpp"
#include "support/socket_bytes.hpp"

namespace holdfast::test {

namespace {

constexpr std::size_t greeting_size = 8;  ///< `AMQP` and the version
constexpr std::size_t head_size = 7, end_size = 1;
constexpr unsigned char method_frame = 1;
constexpr int a_moment = 50;  ///< milliseconds

std::string bytes_of(unsigned value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = size; i-- > 0;) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

/// One frame of what has come, which may not be there whole yet.
struct Frame {
  std::string_view all;
  unsigned channel() const { return number_at(all, 1, 2); }
  bool is_method() const { return number_at(all, 0, 1) == method_frame; }
  /// Class and method in one number.
  unsigned method() const { return number_at(all, head_size, 4); }
  /// Of the methods that we know: after a number that is not used any more.
  std::string queue() const {
    auto size = number_at(all, head_size + 6, 1);
    return std::string{all.substr(head_size + 7, size)};
  }
};
constexpr unsigned basic_consume = 60u << 16 | 20, basic_consume_ok = 60u << 16 | 21,
                   basic_cancel = 60u << 16 | 30, queue_declare = 50u << 16 | 10,
                   queue_delete = 50u << 16 | 40, connection_close = 10u << 16 | 50;

std::string internal_error() {
  constexpr std::string_view text = "INTERNAL_ERROR";
  auto payload = bytes_of(connection_close, 4) + bytes_of(541, 2) +
                 bytes_of(static_cast<unsigned>(text.size()), 1) + std::string{text} +
                 bytes_of(basic_consume, 4);
  return bytes_of(method_frame, 1) + bytes_of(0, 2) +
         bytes_of(static_cast<unsigned>(payload.size()), 4) + payload + "\xce";
}

int connect_to(int port) {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  return -1;
}

}  // namespace

/// One client and its connection to the server.
class AmqpFront::Link {
 public:
  Link(AmqpFront& front, int client)
      : front_{front}, client_{client}, server_{connect_to(front.server_port_)} {
    ++front_.open_;
  }
  ~Link() {
    ::close(client_);
    if (server_ >= 0) ::close(server_);
    --front_.open_;
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void run(const std::stop_token& stop) {
    while (server_ >= 0 && !stop.stop_requested()) {
      pollfd both[2] = {{client_, POLLIN, 0}, {server_, POLLIN, 0}};
      if (::poll(both, closed_ ? 1 : 2, a_moment) < 0) return;
      if (both[0].revents != 0 && !take(client_, from_client_)) return;
      if (!front_.holding_ && !send_held()) return;
      if (!closed_ && both[1].revents != 0 && !take(server_, from_server_)) return;
    }
  }

 private:
  struct Stream {
    std::string bytes{};
    bool greeted = false;
  };

  bool take(int socket, Stream& stream) {
    char some[65'536];
    auto size = ::recv(socket, some, sizeof some, 0);
    if (size <= 0) return false;
    stream.bytes.append(some, static_cast<std::size_t>(size));
    bool by_client = socket == client_;
    if (by_client && !stream.greeted) {
      if (stream.bytes.size() < greeting_size) return true;
      stream.greeted = true;
      if (!send_all(server_, stream.bytes.substr(0, greeting_size))) return false;
      stream.bytes.erase(0, greeting_size);
    }
    while (stream.bytes.size() >= head_size) {
      auto whole = head_size + number_at(stream.bytes, 3, 4) + end_size;
      if (stream.bytes.size() < whole) return true;
      const Frame frame{std::string_view{stream.bytes}.substr(0, whole)};
      if (!(by_client ? pass_to_server(frame) : pass_to_client(frame))) return false;
      stream.bytes.erase(0, whole);
    }
    return true;
  }

  bool pass_to_client(const Frame& frame) {
    if (stuck_.contains(frame.channel())) return true;
    if (!send_all(client_, frame.all)) return false;
    if (frame.is_method() && frame.method() == basic_consume_ok && unanswered_ > 0) --unanswered_;
    return !closing_ || unanswered_ > 0 || close();
  }

  /// The client is to read this, so what it has sent meanwhile is read, too, until it goes.
  bool close() {
    closing_ = false;
    closed_ = true;
    return send_all(client_, internal_error());
  }

  bool send_held() { return held_.empty() || send_all(server_, std::exchange(held_, {})); }

  bool pass_to_server(const Frame& frame) {
    if (closing_ || closed_ || stuck_.contains(frame.channel())) return true;
    const auto method = frame.is_method() ? frame.method() : 0;
    if (method == queue_delete) ++front_.deletes_;
    if (front_.holding_ && (method == basic_cancel || !held_.empty())) {
      held_ += frame.all;
      return true;
    }
    if (!send_held()) return false;
    if (method == basic_consume || method == queue_declare) {
      auto sickness = front_.sickness_of(frame.queue());
      if (sickness == Sickness::silent) {
        stuck_.insert(frame.channel());
        return true;
      }
      if (sickness == Sickness::closes && method == basic_consume) {
        // A server answers in order: first comes what was asked before.
        closing_ = true;
        return unanswered_ > 0 || close();
      }
      if (method == basic_consume) ++unanswered_;
    }
    return send_all(server_, frame.all);
  }

  AmqpFront& front_;
  int client_, server_;
  Stream from_client_, from_server_;
  std::set<unsigned> stuck_;  ///< channels
  int unanswered_ = 0;        ///< requests to consume
  bool closing_ = false;      ///< when these are answered
  bool closed_ = false;
  std::string held_{};  ///< on its way to the server
};

AmqpFront::AmqpFront(int server_port) : server_port_{server_port} {
  auto [socket, port] = listen_on_loopback();
  socket_ = socket;
  port_ = port;
  acceptor_ = std::jthread{[this](const std::stop_token& stop) { accept(stop); }};
}

AmqpFront::~AmqpFront() {
  acceptor_ = {};
  links_.clear();
  ::close(socket_);
}

void AmqpFront::make_sick(const std::string& queue, Sickness sickness) {
  std::lock_guard lock{mutex_};
  sick_[queue] = sickness;
}

void AmqpFront::heal() {
  std::lock_guard lock{mutex_};
  sick_.clear();
}

void AmqpFront::heal(const std::string& queue) {
  std::lock_guard lock{mutex_};
  sick_.erase(queue);
}

std::optional<AmqpFront::Sickness> AmqpFront::sickness_of(const std::string& queue) const {
  std::lock_guard lock{mutex_};
  auto at = sick_.find(queue);
  return at == sick_.end() ? std::nullopt : std::optional{at->second};
}

void AmqpFront::accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd one{socket_, POLLIN, 0};
    if (::poll(&one, 1, a_moment) <= 0) continue;
    int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    ++accepted_;
    links_.emplace_back([this, client](const std::stop_token& ending) {
      Link{*this, client}.run(ending);
    });
  }
}

}  // namespace holdfast::test
