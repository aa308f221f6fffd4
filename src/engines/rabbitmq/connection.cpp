#include "engines/rabbitmq/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engines/rabbitmq/table.hpp"

namespace holdfast::rabbitmq {

namespace {

constexpr int largest_frame = 131'072;
constexpr timeval answer_limit{20, 0};  ///< for an answer
constexpr unsigned longest_silence_ms = 30'000;
constexpr Millis longest_goodbye{2'000};

/// Where the other side does not take what was sent (it is away, or keeps us waiting because its
/// disk is full), writing fails after a while instead of never.
void limit_silence(int fd) {
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &longest_silence_ms, sizeof longest_silence_ms);
}

}  // namespace

bool Refused::no_such_queue() const {
  return code_ == AMQP_NOT_FOUND &&
         std::string_view{what()}.find("no queue '") != std::string::npos;
}

Connection::Connection(const Address& address, const std::string& purpose,
                       std::chrono::seconds heartbeat)
    : name_{address.name()}, state_{::amqp_new_connection()} {
  try {
    open_socket(state_, address);
    limit_silence(fd());
    log_in(address, purpose, heartbeat);
    ensure_channel();
  } catch (const std::exception&) {
    ::amqp_destroy_connection(state_);
    throw;
  }
}

Connection::~Connection() { ::amqp_destroy_connection(state_); }

void Connection::log_in(const Address& address, const std::string& purpose,
                        std::chrono::seconds heartbeat) {
  ::amqp_set_handshake_timeout(state_, &answer_limit);
  ::amqp_set_rpc_timeout(state_, &answer_limit);
  // All that we want: those of the library are not added to these.
  std::array wanted{flag_entry("connection.blocked", true),
                    flag_entry("consumer_cancel_notify", true),
                    flag_entry("authentication_failure_close", true)};
  amqp_table_t capabilities{static_cast<int>(wanted.size()), wanted.data()};
  std::array properties{
      text_entry("product", "holdfast"),
      text_entry("connection_name", purpose),
      table_entry("capabilities", capabilities),
  };
  amqp_table_t table{static_cast<int>(properties.size()), properties.data()};
  check(::amqp_login_with_properties(
      state_, address.vhost.c_str(), 0, largest_frame, static_cast<int>(heartbeat.count()), &table,
      AMQP_SASL_METHOD_PLAIN, address.user.c_str(), address.password.c_str()));
}

void Connection::answer_within(std::chrono::seconds time) {
  const timeval wait{time.count(), 0};
  ::amqp_set_rpc_timeout(state_, &wait);
}

void Connection::ensure_channel() {
  if (has_channel_) return;
  open_channel(channel);
  has_channel_ = true;
  confirms_ = false;
  published_ = 0;
}

void Connection::ensure_confirms() {
  if (confirms_) return;
  ::amqp_confirm_select(state_, channel);
  check();
  confirms_ = true;
}

void Connection::check(const amqp_rpc_reply_t& reply) {
  switch (reply.reply_type) {
    case AMQP_RESPONSE_NORMAL:
      return;
    case AMQP_RESPONSE_LIBRARY_EXCEPTION:
      fail(::amqp_error_string2(reply.library_error));
    case AMQP_RESPONSE_SERVER_EXCEPTION:
      if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD)
        refuse(*static_cast<amqp_channel_close_t*>(reply.reply.decoded));
      if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD)
        was_closed(*static_cast<amqp_connection_close_t*>(reply.reply.decoded));
      [[fallthrough]];
    default:
      fail("it answered what was not asked");
  }
}

void Connection::check(int status, const char* what) {
  if (status != AMQP_STATUS_OK)
    fail(fmt::format("cannot {}: {}", what, ::amqp_error_string2(status)));
}

void Connection::refuse(const amqp_channel_close_t& close) {
  const int code = close.reply_code;
  std::string text{view(close.reply_text)};
  amqp_channel_close_ok_t ok{};
  has_channel_ = false;
  check(::amqp_send_method(state_, channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok), "answer");
  ::amqp_maybe_release_buffers(state_);
  throw Refused{code, fmt::format("{}: {}", name_, text)};
}

void Connection::fail(std::string_view why) const {
  throw Disconnected{fmt::format("no connection to the broker {}: {}", name_, why)};
}

void Connection::was_closed(const amqp_connection_close_t& close) const {
  throw Closed{
      fmt::format("the broker {} closed the connection: {}", name_, view(close.reply_text))};
}

void Connection::open_channel(amqp_channel_t number) {
  ::amqp_channel_open(state_, number);
  check();
}

void Connection::limit_prefetch(amqp_channel_t number, int messages) {
  auto most = static_cast<std::uint16_t>(std::clamp(messages, 1, 65'535));
  ::amqp_basic_qos(state_, number, 0, most, 0);
  check();
}

void Connection::send(amqp_channel_t number, amqp_method_number_t method, void* arguments) {
  check(::amqp_send_method(state_, number, method, arguments), "send");
}

void Connection::send(amqp_frame_t& frame) { check(::amqp_send_frame(state_, &frame), "send"); }

void Connection::send_heartbeat() {
  amqp_frame_t frame{};
  frame.frame_type = AMQP_FRAME_HEARTBEAT;
  send(frame);
}

std::optional<amqp_frame_t> Connection::read(Millis timeout) {
  // The one before was dealt with. This keeps what streams through from piling up.
  ::amqp_maybe_release_buffers(state_);
  auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  timeval at_most{seconds.count(), (timeout - seconds).count() * 1'000};
  amqp_frame_t frame{};
  auto status = ::amqp_simple_wait_frame_noblock(state_, &frame, &at_most);
  if (status == AMQP_STATUS_TIMEOUT) return {};
  check(status, "receive");
  return frame;
}

void Connection::check_close(const amqp_frame_t& frame) {
  if (frame.frame_type != AMQP_FRAME_METHOD) return;
  const auto& method = frame.payload.method;
  if (method.id == AMQP_CHANNEL_CLOSE_METHOD)
    refuse(*static_cast<amqp_channel_close_t*>(method.decoded));
  if (method.id == AMQP_CONNECTION_CLOSE_METHOD)
    was_closed(*static_cast<amqp_connection_close_t*>(method.decoded));
}

void Connection::close() {
  amqp_connection_close_t goodbye{};
  goodbye.reply_code = AMQP_REPLY_SUCCESS;
  check(::amqp_send_method(state_, 0, AMQP_CONNECTION_CLOSE_METHOD, &goodbye), "say goodbye");
  // What still comes on the way is nobody's, and is not kept while we wait for the answer.
  auto deadline = std::chrono::steady_clock::now() + longest_goodbye;
  while (std::chrono::steady_clock::now() < deadline) {
    auto frame = read(Millis{100});
    if (frame && frame->frame_type == AMQP_FRAME_METHOD &&
        frame->payload.method.id == AMQP_CONNECTION_CLOSE_OK_METHOD)
      return;
  }
}

}  // namespace holdfast::rabbitmq
