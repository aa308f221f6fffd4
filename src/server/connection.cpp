#include "server/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <system_error>

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "recovery/clock.hpp"
#include "server/hub.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/spool.hpp"
#include "server/unread.hpp"
#include "server/wire.hpp"
#include "server/wire_fault.hpp"

namespace holdfast::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Failure = boost::system::error_code;

namespace {

constexpr std::chrono::seconds for_first_head{10};
constexpr std::chrono::seconds for_next_head{60};
constexpr std::chrono::seconds for_answer{30};
/// A body must come within this time, each piece of it within that, and, after the first seconds,
/// so many bytes of it a second.
constexpr Millis for_body{60'000};
constexpr Millis for_unknown_body{5'000};
constexpr Millis for_piece{5'000};
constexpr Millis slow_at_first{5'000};
constexpr std::int64_t least_bytes_a_second = 1'024;

template <class Stream>
class Connection final : public Client, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  static constexpr bool secure = !std::is_same_v<Stream, beast::tcp_stream>;

  template <class... Args>
  Connection(Home& home, std::string peer, Args&&... args)
      : home_{home}, stream_{std::forward<Args>(args)...}, peer_{std::move(peer)} {}

  void begin() override {
    silent_since_ = system_clock().steady();
    if constexpr (secure) {
      lowest().expires_after(for_first_head);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = self()](const Failure& failure) {
                                failure ? self->close() : self->read_head(for_first_head);
                              });
    } else {
      read_head(for_first_head);
    }
  }

  void close() override {
    if (closed_) return;
    closed_ = true;
    Failure ignored;
    lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    lowest().socket().close(ignored);
    timer_.cancel();
    events_.reset();
    home_.leave(this);
  }

  std::optional<Millis> silent_since() const override { return silent_since_; }

  void news() override {
    if (!events_ || writing_ || closed_ || !home_.answers().has_room(request_.caller.name)) return;
    outgoing_ = events_->take();
    if (!outgoing_.empty()) write_events();
  }

  void tick() override {
    if (closed_) return;
    // Who has logged out, or may not look any more, hears nothing more either.
    if (events_ && !still_admitted()) return close();
    if (!waits_since_) return;
    const auto waited = system_clock().steady() - *waits_since_;
    const auto overdue = home_.service().overdue(*route_, request_, waited);
    if (!overdue) return;
    // The thread may still be at it, and goes on reading the request: nothing more comes after it.
    given_up_ = true;
    waits_since_.reset();
    keep_alive_ = false;
    send(answer_for(*overdue));
  }

  void comment() override {
    if (!events_ || writing_ || closed_) return;
    outgoing_ = ": still here\n\n";
    write_events();
  }

 private:
  std::shared_ptr<Connection> self() { return this->shared_from_this(); }
  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void read_head(std::chrono::seconds patience) {
    if (closed_) return;
    silent_since_ = system_clock().steady();
    parser_.emplace();
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(large_body);
    lowest().expires_after(patience);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = self()](const Failure& failure, std::size_t) { self->has_head(failure); });
  }

  void has_head(const Failure& failure) {
    if (closed_) return;
    silent_since_.reset();
    if (ended(failure)) return close();
    try {
      if (failure) throw problem_of(failure);
      admit();
    } catch (const std::exception& error) {
      refuse(problem_for(error));
    }
  }

  void admit() {
    const auto& message = parser_->get();
    std::vector<std::pair<std::string_view, std::string_view>> headers;
    for (const auto& field : message)
      headers.emplace_back(std::string_view{field.name_string().data(), field.name_string().size()},
                           std::string_view{field.value().data(), field.value().size()});
    std::string raw_path;
    const auto method = message.method_string();
    const auto target = message.target();
    request_ = server::read_head({method.data(), method.size()}, {target.data(), target.size()},
                                 headers, raw_path);
    request_.peer = peer_;
    request_.secure = secure;
    request_.since = system_clock().steady();
    keep_alive_ = message.keep_alive();
    if (request_.headers.contains("transfer-encoding") && !parser_->chunked())
      throw invalid("the only transfer encoding that is understood is chunked");
    route_ = &home_.service().admit(request_, raw_path);
    authenticate();
    if (parser_->content_length().value_or(0) > route_->largest_body)
      throw problem_of(http::error::body_limit);
    parser_->body_limit(route_->largest_body);
    if (parser_->is_done()) return answer();
    expect_body();
    request_.header("expect").empty() ? read_body() : invite_body();
  }

  /// From its first request with a credential on, a connection does not make room for strangers.
  void authenticate() {
    const auto by = request_.caller.by;
    if (authenticated_ || by == Caller::By::nobody || by == Caller::By::no_auth) return;
    if (!home_.authenticated(*this, request_.caller.name))
      throw Problem{503, "busy", "too many connections are open; close some, or try again later"};
    authenticated_ = true;
  }

  /// Room for a large body is taken before it comes.
  void expect_body() {
    const auto bytes = parser_->content_length().value_or(route_->largest_body);
    if (bytes > small_body && !home_.bodies().has_room(request_.caller.name))
      throw Problem{503, "busy", "too many large requests are being sent; try again in a second"};
    body_ = home_.bodies().hold(request_.caller.name, bytes);
    body_since_ = system_clock().steady();
    body_bytes_ = 0;
    parser_->eager(true);
  }

  void invite_body() {
    outgoing_ = "HTTP/1.1 100 Continue\r\n\r\n";
    lowest().expires_after(for_answer);
    asio::async_write(stream_, asio::buffer(outgoing_),
                      [self = self()](const Failure& failure, std::size_t) {
                        failure ? self->close() : self->read_body();
                      });
  }

  void read_body() {
    const auto most = authenticated_ ? for_body : for_unknown_body;
    const auto left = body_since_ + most - system_clock().steady();
    lowest().expires_after(std::clamp(left, Millis{1}, for_piece));
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = self()](const Failure& failure, std::size_t bytes) {
                            self->has_piece(failure, bytes);
                          });
  }

  void has_piece(const Failure& failure, std::size_t bytes) {
    if (closed_) return;
    if (ended(failure)) return close();
    if (failure) return refuse(problem_of(failure));
    if (parser_->is_done()) return answer();
    body_bytes_ += static_cast<std::int64_t>(bytes);
    const auto since = system_clock().steady() - body_since_;
    const auto due = since > slow_at_first ? least_bytes_a_second * since.count() / 1'000 : 0;
    if (body_bytes_ < due || since >= (authenticated_ ? for_body : for_unknown_body))
      return refuse({408, "too_slow", "the body of the request comes too slowly"});
    read_body();
  }

  void answer() {
    request_.body = std::move(parser_->get().body());
    if (route_->asks == Asks::nobody) return send(home_.service().answer(*route_, request_));
    ask();
  }

  /// Asks the service in another thread. Of a request that waits, again and again.
  void ask() {
    waits_since_ = system_clock().steady();
    const auto store = home_.service().store_asked(*route_, request_);
    const bool accepted = home_.work(store, [self = self()] {
      if (self->given_up_) return;
      auto response = std::make_shared<Response>(self->answer_of_service());
      self->home_.back([self, response] { self->has_answer(std::move(*response)); });
    });
    if (!accepted)
      has_answer(answer_for({503, "busy", "too many requests wait; try again in a second"}));
  }

  /// In another thread. Nothing is done for a caller who does not read what it has asked for.
  Response answer_of_service() {
    auto& answers = home_.answers();
    const auto& caller = request_.caller.name;
    if (!caller.empty() && !answers.has_room(caller))
      return answer_for({503, "busy", "read the answers to earlier requests first"});
    auto response = home_.service().answer(*route_, request_);
    response.counted = answers.hold(caller, response.body.size());
    return response;
  }

  void has_answer(Response response) {
    if (closed_ || given_up_) return;
    waits_since_.reset();
    if (!response.again_in) return send(std::move(response));
    timer_.expires_after(*response.again_in);
    timer_.async_wait([self = self()](const Failure& failure) {
      // What is claimed for somebody who has gone would be lost until its lease is over.
      if (!failure && !self->closed_) self->hung_up() ? self->close() : self->ask();
    });
  }

  /// What a request was admitted by may have ended since.
  bool still_admitted() { return home_.service().gate().still_admits(request_); }

  bool hung_up() {
    char next = 0;
    return ::recv(lowest().socket().native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }

  /// What was sent beyond the head is not read: it may be large, or never come. After a message
  /// that makes no sense, nobody knows where the next one would begin.
  void refuse(const Problem& problem) {
    const bool understood = problem.status() != 400 && problem.status() != 431;
    keep_alive_ = keep_alive_ && understood && parser_->is_done();
    send(answer_for(problem));
  }

  void send(Response response) {
    response_ = std::move(response);
    outgoing_ = write_head(response_, keep_alive_, secure);
    if (parser_->get().method() == http::verb::head) {
      response_.body.clear();
      response_.fixed = {};
      response_.file.reset();
      response_.events.reset();
    }
    events_ = response_.events;
    const std::array<asio::const_buffer, 2> both = {asio::buffer(outgoing_),
                                                    asio::buffer(response_.content())};
    writing_ = true;
    lowest().expires_after(for_answer);
    asio::async_write(stream_, both, [self = self()](const Failure& failure, std::size_t) {
      self->writing_ = false;
      failure ? self->finish() : self->write_file();
    });
  }

  /// What is in a file goes out piece by piece; whoever takes none of them in time is dropped.
  void write_file() {
    try {
      outgoing_ = response_.file ? response_.file->next() : std::string{};
    } catch (const std::system_error&) {
      return close();  // before its promised end, which tells the caller
    }
    if (outgoing_.empty()) return has_sent();
    writing_ = true;
    lowest().expires_after(for_answer);
    asio::async_write(stream_, asio::buffer(outgoing_),
                      [self = self()](const Failure& failure, std::size_t) {
                        self->writing_ = false;
                        failure ? self->close() : self->write_file();
                      });
  }

  void has_sent() {
    if (!keep_alive_ && !events_) return finish();
    response_ = {};
    if (!events_) request_ = {};
    body_.reset();
    events_ ? stream_events() : read_head(for_next_head);
  }

  /// Says that nothing more comes, and gives what was sent to us meanwhile a moment to arrive: with
  /// unread input, closing at once would take the answer back.
  void finish() {
    if (closed_) return;
    response_ = {};
    Failure ignored;
    lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    lowest().expires_after(std::chrono::seconds{2});
    drain(64);
  }

  void drain(int reads) {
    lowest().async_read_some(asio::buffer(scratch_),
                             [self = self(), reads](const Failure& failure, std::size_t) {
                               failure || reads == 0 ? self->close() : self->drain(reads - 1);
                             });
  }

  void stream_events() {
    parser_.reset();
    buffer_.clear();
    buffer_.shrink_to_fit();
    outgoing_.shrink_to_fit();
    lowest().expires_never();
    stream_.async_read_some(asio::buffer(scratch_), [self = self()](const Failure&, std::size_t) {
      self->close();  // it has gone, or says what it should not
    });
    news();
  }

  void write_events() {
    writing_ = true;
    response_.counted = home_.answers().hold(request_.caller.name, outgoing_.size());
    lowest().expires_after(for_answer);
    asio::async_write(stream_, asio::buffer(outgoing_),
                      [self = self()](const Failure& failure, std::size_t) {
                        self->writing_ = false;
                        if (failure) return self->close();
                        self->outgoing_.clear();
                        self->response_.counted.reset();
                        self->news();
                      });
  }

  Home& home_;
  Stream stream_;
  std::string peer_;
  asio::steady_timer timer_{stream_.get_executor()};
  beast::flat_buffer buffer_{most_header_bytes + large_body};
  std::optional<http::request_parser<http::string_body>> parser_;
  Request request_{};
  const Route* route_ = nullptr;
  Response response_{};
  std::string outgoing_{};
  std::array<char, 512> scratch_{};
  std::shared_ptr<Subscription> events_{};
  bool authenticated_ = false;
  std::shared_ptr<void> body_{};  ///< counts the bytes of the body at hand
  Millis body_since_{0};
  std::int64_t body_bytes_ = 0;
  std::optional<Millis> silent_since_{};
  std::optional<Millis> waits_since_{};  ///< for the service
  std::atomic<bool> given_up_ = false;   ///< the caller has been told that no answer came
  bool keep_alive_ = false;
  bool writing_ = false;
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<Client> make_client(Home& home, asio::ip::tcp::socket socket, std::string peer) {
  return std::make_shared<Connection<beast::tcp_stream>>(home, std::move(peer), std::move(socket));
}

std::shared_ptr<Client> make_tls_client(Home& home, asio::ip::tcp::socket socket,
                                        asio::ssl::context& tls, std::string peer) {
  return std::make_shared<Connection<beast::ssl_stream<beast::tcp_stream>>>(home, std::move(peer),
                                                                            std::move(socket), tls);
}

}  // namespace holdfast::server
