#include "server/listener.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
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
#include "server/doors.hpp"
#include "server/lanes.hpp"

namespace holdfast::server {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::chrono::seconds comment_every{15};
constexpr std::chrono::seconds tick_every{1};
constexpr std::size_t most_clients = 4'096;
constexpr std::size_t files_of_our_own = 128;

/// Every connection is a descriptor, and the usual limit is for programs with few.
std::size_t room_for_clients() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, most_clients + files_of_our_own);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto files = std::min<std::size_t>(limit.rlim_cur, most_clients + files_of_our_own);
  return files > 2 * files_of_our_own ? files - files_of_our_own : files / 2;
}

}  // namespace

/// The thread of the network, and what its connections share. Only that thread touches clients.
class Listener::Loop : public Home {
 public:
  explicit Loop(const ListenOptions& options)
      : doors_{open_doors(io_, options.hosts, options.port)},
        comments_{io_},
        ticks_{io_},
        room_{room_for_clients()},
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
    clients_.clear();
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
  void leave(Client* client) override { clients_.erase(client); }

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
      // Mostly there is no descriptor left: trying again at once would only keep a core busy.
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
    if (clients_.size() >= room_) drop_longest_silent();
    const auto address = peer.address().to_string();
    auto client = tls_ ? make_tls_client(*this, std::move(socket), *tls_, address)
                       : make_client(*this, std::move(socket), address);
    clients_[client.get()] = client;
    client->begin();
  }

  /// Whoever says nothing makes room for whoever does.
  void drop_longest_silent() {
    std::shared_ptr<Client> silent;
    for (const auto& [key, client] : clients_)
      if (client->silent_since() && (!silent || *client->silent_since() < *silent->silent_since()))
        silent = client;
    if (!silent) silent = clients_.begin()->second;
    silent->close();
  }

  void news() {
    if (news_posted_.exchange(true)) return;
    asio::post(io_, [this] {
      news_posted_ = false;
      for (const auto& client : everybody()) client->news();
    });
  }

  void every(asio::steady_timer& timer, std::chrono::seconds pause, void (Client::*told)()) {
    timer.expires_after(pause);
    timer.async_wait([this, &timer, pause, told](boost::system::error_code failed) {
      if (failed) return;
      for (const auto& client : everybody()) (*client.*told)();
      every(timer, pause, told);
    });
  }

  /// A copy, because some may leave while the others are told.
  std::vector<std::shared_ptr<Client>> everybody() const {
    std::vector<std::shared_ptr<Client>> all;
    for (const auto& [key, client] : clients_) all.push_back(client);
    return all;
  }

  asio::io_context io_{1};
  std::vector<tcp::acceptor> doors_;
  std::optional<asio::ssl::context> tls_;
  asio::steady_timer comments_;
  asio::steady_timer ticks_;
  std::size_t room_;
  int threads_;
  std::unique_ptr<Lanes> lanes_;
  Service* service_ = nullptr;
  std::map<Client*, std::shared_ptr<Client>> clients_;
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
