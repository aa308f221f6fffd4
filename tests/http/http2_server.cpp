#include "http/http2_server.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include "support/loopback.hpp"

namespace holdfast::test {

namespace {

int choose_http2(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                 unsigned int in_size, void*) {
  auto* chosen = const_cast<unsigned char**>(out);
  bool found = nghttp2_select_next_protocol(chosen, size, in, in_size) == 1;
  return found ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// What one connection has had so far.
struct Conversation {
  struct Asked {
    std::string method{}, path{};
  };

  const Http2Server::Handler& handler;
  int most = 0;
  int asked = 0;
  int ended = 0;
  std::map<std::int32_t, Asked> streams{};
  std::optional<Http2Then> broken_off{};
};

nghttp2_nv field(const char* name, const char* value) {
  auto bytes = [](const char* text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text));
  };
  return {bytes(name), bytes(value), std::strlen(name), std::strlen(value), NGHTTP2_NV_FLAG_NONE};
}

int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
              std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
              std::uint8_t, void* data) {
  auto text = [](const std::uint8_t* bytes, std::size_t size) {
    return std::string{reinterpret_cast<const char*>(bytes), size};
  };
  auto& asked = static_cast<Conversation*>(data)->streams[frame->hd.stream_id];
  if (text(name, name_size) == ":method") asked.method = text(value, value_size);
  if (text(name, name_size) == ":path") asked.path = text(value, value_size);
  return 0;
}

void respond(nghttp2_session* session, std::int32_t stream, Conversation& conversation) {
  const auto& asked = conversation.streams[stream];
  const auto then =
      conversation.handler ? conversation.handler(asked.method, asked.path) : Http2Then::answer;
  if (then == Http2Then::refuse) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_REFUSED_STREAM);
  } else if (then == Http2Then::answer) {
    std::array fields{field(":status", "200"), field("content-length", "0")};
    nghttp2_submit_response(session, stream, fields.data(), fields.size(), nullptr);
  } else {
    if (then == Http2Then::say_unread)
      nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, stream - 2, NGHTTP2_NO_ERROR, nullptr, 0);
    conversation.broken_off = then;
  }
}

int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* data) {
  auto& conversation = *static_cast<Conversation*>(data);
  const bool of_request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
  const bool whole = of_request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
  if (!whole || conversation.asked == conversation.most) return 0;
  if (++conversation.asked == conversation.most)
    nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR,
                          nullptr, 0);
  respond(session, frame->hd.stream_id, conversation);
  return 0;
}

int on_close(nghttp2_session*, std::int32_t, std::uint32_t, void* data) {
  ++static_cast<Conversation*>(data)->ended;
  return 0;
}

bool send_all(nghttp2_session* session, SSL* tls) {
  const std::uint8_t* bytes = nullptr;
  while (auto size = nghttp2_session_mem_send(session, &bytes)) {
    if (size < 0 || SSL_write(tls, bytes, static_cast<int>(size)) <= 0) return false;
  }
  return true;
}

void converse(SSL* tls, Conversation& conversation) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, &conversation);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  std::array<std::uint8_t, 16'384> bytes{};
  while (send_all(session, tls) && conversation.ended < conversation.most &&
         !conversation.broken_off) {
    int got = SSL_read(tls, bytes.data(), static_cast<int>(bytes.size()));
    if (got <= 0 ||
        nghttp2_session_mem_recv(session, bytes.data(), static_cast<std::size_t>(got)) < 0)
      break;
  }
  nghttp2_session_del(session);
}

}  // namespace

Http2Server::Http2Server(const std::string& certificate, const std::string& key, int requests_each,
                         Handler handler)
    : context_{SSL_CTX_new(TLS_server_method())},
      requests_each_{requests_each},
      handler_{std::move(handler)} {
  ::signal(SIGPIPE, SIG_IGN);  // of clients that were quicker
  if (SSL_CTX_use_certificate_file(context_, certificate.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM) != 1)
    throw std::runtime_error{"the certificate of the server cannot be used"};
  SSL_CTX_set_alpn_select_cb(context_, choose_http2, nullptr);
  auto listening = listen_on_loopback();
  listener_ = listening.socket;
  port_ = listening.port;
  accepting_ = std::thread{[this] { accept_all(); }};
}

Http2Server::~Http2Server() {
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  ::close(listener_);
  for (auto& one : serving_) one.join();
  SSL_CTX_free(context_);
}

std::string Http2Server::url() const { return "https://127.0.0.1:" + std::to_string(port_) + "/"; }

void Http2Server::accept_all() {
  while (true) {
    int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    ++connections_;
    std::lock_guard lock{mutex_};
    serving_.emplace_back([this, connection] { serve(connection); });
  }
}

void Http2Server::serve(int connection) {
  std::unique_ptr<SSL, decltype(&SSL_free)> tls{SSL_new(context_), &SSL_free};
  SSL_set_fd(tls.get(), connection);
  Conversation conversation{.handler = handler_, .most = requests_each_};
  if (SSL_accept(tls.get()) == 1) converse(tls.get(), conversation);
  if (conversation.broken_off == Http2Then::reset) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  } else {
    SSL_shutdown(tls.get());
  }
  ::close(connection);
}

}  // namespace holdfast::test
