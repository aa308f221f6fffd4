#include "server/listener.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include <holdfast/error.hpp>

#include "server/client.hpp"
#include "server/connection.hpp"
#include "server/connection_table.hpp"
#include "server/descriptors.hpp"
#include "server/doors.hpp"
#include "server/lanes.hpp"
#include "server/unread.hpp"

namespace holdfast::server {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::chrono::seconds comment_every{15};
constexpr std::chrono::seconds tick_every{1};
/// What the kernel keeps for a caller that reads nothing is memory, too.
constexpr int send_buffer = 256 * 1024;
/// Large requests of authenticated callers, all together and of one.
constexpr std::size_t most_bodies = 256 * 1024 * 1024;
constexpr std::size_t most_bodies_of_one = 128 * 1024 * 1024;
/// How many make room at once when the machine has no descriptor left.
constexpr int dropped_at_once = 8;

/// A quarter is for those who have not shown who they are, however many the others are.
ConnectionLimits limits_of(const ListenOptions& options) {
  const auto plan =
      plan_descriptors(options.connections == 0 ? most_connections : options.connections);
  set_worker_seats(plan.workers);
  const auto unknown =
      options.no_auth ? plan.connections : std::max<std::size_t>(4, plan.connections / 4);
  return {.unauthenticated = unknown,
          .authenticated = plan.connections - std::min(unknown, plan.connections - 1),
          .per_address = std::min(options.per_address, unknown),
          .per_shared_address = unknown};
}

}  // namespace

/// The thread of the network, and what its connections share. Only that thread touches clients.
class Listener::Loop : public Home {
 public:
  explicit Loop(const ListenOptions& options)
      : doors_{open_doors(io_, options.hosts, options.port)},
        comments_{io_},
        ticks_{io_},
        behind_proxy_{options.behind_proxy},
        clients_{limits_of(options)},
        threads_{options.threads} {
    if (!options.certificate.empty()) use_tls(options);
  }

  int port() const { return doors_.front().local_endpoint().port(); }

  void run(Service& service) {
    service_ = &service;
    lanes_ = std::make_unique<Lanes>(service.stores().size(), threads_);
    for (const auto& store : service.stores()) store->hub()->on_news([this] { news(); });
    for (auto& door : doors_) accept(door);
    every(comments_, comment_every, &Client::comment);
    every(ticks_, tick_every, &Client::tick);
    io_.run();
    for (const auto& store : service.stores()) store->hub()->on_news({});
    lanes_->join();
    for (const auto& client : clients_.all()) clients_.leave(client.get());
  }

  void stop() {
    asio::post(io_, [this] { io_.stop(); });
  }

  void probe(std::function<void()> look, std::function<void()> answer) {
    asio::post(io_, [this, look = std::move(look), answer = std::move(answer)] {
      const bool taken = work({}, [this, look, answer] {
        look();
        back(answer);
      });
      // However many wait: as long as they get their answers, all is well.
      const auto done = lanes_->done();
      if (!taken && done != std::exchange(done_at_last_probe_, done)) answer();
    });
  }

  Service& service() override { return *service_; }

  bool work(std::optional<std::size_t> store, std::function<void()> job) override {
    return lanes_->work(store, std::move(job));
  }

  void back(std::function<void()> job) override { asio::post(io_, std::move(job)); }
  void leave(Client* client) override { clients_.leave(client); }
  bool authenticated(Client& client, const std::string& caller) override {
    const auto verdict = clients_.authenticate(&client, caller);
    if (verdict.yields) verdict.yields->close();
    return verdict.admitted;
  }
  Unread& answers() override { return answers_; }
  Unread& bodies() override { return bodies_; }

 private:
  void use_tls(const ListenOptions& options) {
    tls_.emplace(asio::ssl::context::tls_server);
    tls_->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1 |
                      asio::ssl::context::default_workarounds);
    boost::system::error_code failed;
    tls_->use_certificate_chain_file(options.certificate, failed);
    if (failed)
      throw ConfigError{fmt::format("the certificate {} cannot be used: {}", options.certificate,
                                    failed.message())};
    tls_->use_private_key_file(options.key, asio::ssl::context::pem, failed);
    if (failed)
      throw ConfigError{fmt::format("the key {} cannot be used, or is not the certificate's: {}",
                                    options.key, failed.message())};
  }

  void accept(tcp::acceptor& door) {
    door.async_accept([this, &door](boost::system::error_code failed, tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (!failed) {
        take(std::move(socket));
        return accept(door);
      }
      // Mostly there is no descriptor left: trying again at once would only keep a core busy. Who
      // has not said who it is gives some back.
      for (int i = 0; i < dropped_at_once; ++i)
        if (const auto oldest = clients_.oldest()) oldest->close();
      auto pause = std::make_shared<asio::steady_timer>(io_, std::chrono::milliseconds{100});
      pause->async_wait([this, &door, pause](boost::system::error_code ended) {
        if (!ended) accept(door);
      });
    });
  }

  void take(tcp::socket socket) {
    boost::system::error_code unknown;
    const auto peer = socket.remote_endpoint(unknown);
    if (unknown) return;
    socket.set_option(tcp::no_delay{true}, unknown);
    socket.set_option(asio::socket_base::send_buffer_size{send_buffer}, unknown);
    const auto group = address_group(peer.address());
    const bool shared = behind_proxy_ || peer.address().is_loopback();
    if (const auto oldest = clients_.in_the_way(group, shared)) oldest->close();
    const auto address = peer.address().to_string();
    auto client = tls_ ? make_tls_client(*this, std::move(socket), *tls_, address)
                       : make_client(*this, std::move(socket), address);
    clients_.add(client, group);
    client->begin();
  }

  void news() {
    if (news_posted_.exchange(true)) return;
    asio::post(io_, [this] {
      news_posted_ = false;
      for (const auto& client : clients_.all()) client->news();
    });
  }

  void every(asio::steady_timer& timer, std::chrono::seconds pause, void (Client::*told)()) {
    timer.expires_after(pause);
    timer.async_wait([this, &timer, pause, told](boost::system::error_code failed) {
      if (failed) return;
      for (const auto& client : clients_.all()) (*client.*told)();
      every(timer, pause, told);
    });
  }

  Unread answers_;
  Unread bodies_{most_bodies, most_bodies_of_one};
  asio::io_context io_{1};
  std::vector<tcp::acceptor> doors_;
  std::optional<asio::ssl::context> tls_;
  asio::steady_timer comments_;
  asio::steady_timer ticks_;
  bool behind_proxy_;
  ConnectionTable clients_;
  int threads_;
  std::unique_ptr<Lanes> lanes_;
  Service* service_ = nullptr;
  std::atomic<bool> news_posted_ = false;
  std::uint64_t done_at_last_probe_ = 0;
};

Listener::Listener(const ListenOptions& options) : loop_{std::make_unique<Loop>(options)} {}
Listener::~Listener() = default;
int Listener::port() const { return loop_->port(); }
void Listener::run(Service& service) { loop_->run(service); }
void Listener::stop() { loop_->stop(); }
void Listener::probe(std::function<void()> look, std::function<void()> answer) {
  loop_->probe(std::move(look), std::move(answer));
}

}  // namespace holdfast::server
