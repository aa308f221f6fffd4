#include "support/postgres_gate.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "support/socket_bytes.hpp"

namespace holdfast::test {

namespace {

using std::chrono::milliseconds;
constexpr int a_moment = 20;  ///< milliseconds
constexpr milliseconds between_looks{2};
constexpr std::chrono::seconds longest_silence{60};

/// What two transactions cannot notice of each other.
constexpr std::string_view passes_at_once[] = {"SELECT set_config", "SELECT pg_catalog.set_config",
                                               "SELECT pg_current_xact_id", "ROLLBACK"};

sockaddr_un address_of(const std::string& folder, int port) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto path = fmt::format("{}/.s.PGSQL.{}", folder, port);
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error{"too long: " + path};
  std::ranges::copy(path, address.sun_path);
  return address;
}

int connect_to(const std::string& folder, int port) {
  int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = address_of(folder, port);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  return -1;
}

}  // namespace

PostgresLocks::PostgresLocks(const PostgresServer& server)
    : db_{PQconnectdb(server.connection().c_str()), PQfinish} {}

bool PostgresLocks::is_waiting(int backend) const {
  auto sql = fmt::format("SELECT 1 FROM pg_locks WHERE NOT granted AND pid = {}", backend);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> found{PQexec(db_.get(), sql.c_str()),
                                                             PQclear};
  if (PQresultStatus(found.get()) != PGRES_TUPLES_OK)
    throw std::runtime_error{PQerrorMessage(db_.get())};
  return PQntuples(found.get()) > 0;
}

void Turns::enter(Actor actor, int backend) {
  std::unique_lock lock{mutex_};
  auto& step = steps_[actor];
  step.at = At::gate;
  step.backend = backend;
  changed_.notify_all();
  changed_.wait(lock, [&] { return step.may_pass || given_up_; });
  step.may_pass = false;
}

void Turns::leave(Actor actor) {
  std::lock_guard lock{mutex_};
  steps_[actor].at = At::client;
  changed_.notify_all();
}

void Turns::finish(Actor actor) {
  std::lock_guard lock{mutex_};
  steps_[actor].at = At::end;
  changed_.notify_all();
}

/// Whether each of them is at the gate, at its end, or waits in the server for the other one.
bool Turns::is_settled(const PostgresLocks& locks, std::unique_lock<std::mutex>& lock) {
  auto in_server = std::ranges::find(steps_, At::server, &Step::at);
  if (std::ranges::count(steps_, At::client, &Step::at) > 0) return false;
  if (in_server == std::end(steps_)) return true;
  auto& other = in_server == steps_ ? steps_[1] : steps_[0];
  if (other.at != At::gate) return false;  // then it cannot be what is waited for, or not for long
  auto backend = in_server->backend;
  lock.unlock();
  bool waits = locks.is_waiting(backend);
  lock.lock();
  return waits && in_server->at == At::server && other.at == At::gate;
}

void Turns::direct(const PostgresLocks& locks, std::vector<Next>& choices) {
  std::unique_lock lock{mutex_};
  std::size_t chosen = 0;
  Actor next = 0;
  auto last = std::chrono::steady_clock::now();
  auto is = [&](Actor actor, At at) { return steps_[actor].at == at; };
  while (!is(0, At::end) || !is(1, At::end)) {
    if (!is_settled(locks, lock)) {
      if (std::chrono::steady_clock::now() - last > longest_silence) {
        given_up_ = true;
        changed_.notify_all();
        throw std::runtime_error{"neither step continues"};
      }
      changed_.wait_for(lock, between_looks);
      continue;
    }
    if (is(0, At::gate) && is(1, At::gate)) {
      if (chosen == choices.size()) choices.push_back(Next::same);
      if (choices[chosen++] == Next::other) next = 1 - next;
    } else {
      next = is(0, At::gate) ? 0 : 1;
    }
    steps_[next].at = At::server;
    steps_[next].may_pass = true;
    changed_.notify_all();
    last = std::chrono::steady_clock::now();
  }
}

/// One connection of the engine and its own to the server.
class PostgresGate::Link {
 public:
  Link(const PostgresGate& gate, int client)
      : gate_{gate}, client_{client}, server_{connect_to(gate.server_folder_, gate.port_)} {}
  ~Link() {
    ::close(client_);
    if (server_ >= 0) ::close(server_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void run(const std::stop_token& stop) {
    while (server_ >= 0 && !stop.stop_requested()) {
      pollfd both[2] = {{client_, POLLIN, 0}, {server_, POLLIN, 0}};
      if (::poll(both, 2, a_moment) < 0) return;
      if (both[1].revents != 0 && !take_from_server()) return;
      if (both[0].revents != 0 && !take_from_client()) return;
    }
  }

 private:
  static bool receive(int socket, std::string& into) {
    std::array<char, 65'536> some{};
    auto size = ::recv(socket, some.data(), some.size(), 0);
    if (size <= 0) return false;
    into.append(some.data(), static_cast<std::size_t>(size));
    return true;
  }

  bool take_from_client() {
    if (!receive(client_, from_client_)) return false;
    for (;;) {
      std::size_t head = greeted_ ? 5 : 4;
      if (from_client_.size() < head) return true;
      std::size_t whole = number_at(from_client_, head - 4, 4) + (head - 4);
      if (from_client_.size() < whole) return true;
      auto message = from_client_.substr(0, whole);
      from_client_.erase(0, whole);
      if (!std::exchange(greeted_, true) ? !send_all(server_, message) : !pass(message))
        return false;
    }
  }

  /// A message to the server. Statements see what there is when they are bound, so that waits.
  bool pass(const std::string& message) {
    auto text_at = [&](std::size_t at) { return std::string{message.c_str() + at}; };
    switch (message[0]) {
      case 'P':
        texts_[text_at(5)] = message.c_str() + 5 + text_at(5).size() + 1;
        break;
      case 'B':
        bound_ = texts_[message.c_str() + 5 + text_at(5).size() + 1];
        if (has_to_wait()) {
          passing_ = gate_.turns();
          passing_->enter(gate_.actor_, backend_);
        }
        break;
      case 'E':
        ++outstanding_;
        if (bound_.starts_with("BEGIN")) in_transaction_ = true;
        if (bound_ == "COMMIT" || bound_ == "ROLLBACK") in_transaction_ = false;
        if (passing_) return send_all(server_, message) && wait_for_answer();
        break;
      case 'S':
        after_error_ = false;
        break;
      default:
        break;
    }
    return send_all(server_, message);
  }

  bool has_to_wait() const {
    auto passes = [&](std::string_view begin) { return bound_.starts_with(begin); };
    return in_transaction_ && !after_error_ && gate_.turns() &&
           std::ranges::none_of(passes_at_once, passes);
  }

  bool wait_for_answer() {
    constexpr std::string_view flush{"H\0\0\0\4", 5};
    bool alive = send_all(server_, flush);
    while (alive && outstanding_ > 0) alive = take_from_server();
    std::exchange(passing_, nullptr)->leave(gate_.actor_);
    return alive;
  }

  bool take_from_server() {
    if (!receive(server_, from_server_)) return false;
    while (from_server_.size() >= 5) {
      std::size_t whole = number_at(from_server_, 1, 4) + 1;
      if (from_server_.size() < whole) return true;
      note(std::string_view{from_server_}.substr(0, whole));
      if (!send_all(client_, std::string_view{from_server_}.substr(0, whole))) return false;
      from_server_.erase(0, whole);
    }
    return true;
  }

  void note(std::string_view message) {
    switch (message[0]) {
      case 'K':
        backend_ = static_cast<int>(number_at(message, 5, 4));
        break;
      case 'C':
      case 'I':
      case 's':
        --outstanding_;
        break;
      case 'E':  // the rest is skipped until the next sync
        outstanding_ = 0;
        after_error_ = true;
        break;
      case 'Z':
        outstanding_ = 0;
        break;
      default:
        break;
    }
  }

  const PostgresGate& gate_;
  int client_, server_;
  std::string from_client_, from_server_;
  bool greeted_ = false, in_transaction_ = false, after_error_ = false;
  int backend_ = 0, outstanding_ = 0;
  Turns* passing_ = nullptr;
  std::map<std::string, std::string> texts_;  ///< of prepared statements
  std::string bound_;
};

PostgresGate::PostgresGate(const PostgresServer& server, Turns::Actor actor)
    : actor_{actor}, server_folder_{server.folder()}, port_{server.port()} {
  std::string path = std::filesystem::temp_directory_path() / "gate.XXXXXX";
  if (!::mkdtemp(path.data())) throw std::runtime_error{"no folder for a gate"};
  folder_ = path;
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = address_of(folder_, port_);
  if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_, 16) != 0)
    throw std::runtime_error{"cannot listen in " + folder_};
  acceptor_ = std::jthread{[this](const std::stop_token& stop) { accept(stop); }};
}

PostgresGate::~PostgresGate() {
  acceptor_.request_stop();
  acceptor_.join();
  links_.clear();
  ::close(socket_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void PostgresGate::accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, a_moment) <= 0) continue;
    int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    links_.emplace_back([this, client](const std::stop_token& ended) {
      Link{*this, client}.run(ended);
    });
  }
}

std::string PostgresGate::address(const std::string& store) const {
  auto address = store;
  auto at = address.find(server_folder_);
  if (at == std::string::npos) throw std::runtime_error{"not a store of this server: " + store};
  return address.replace(at, server_folder_.size(), folder_);
}

void PostgresGate::set_turns(Turns* turns) {
  std::lock_guard lock{mutex_};
  turns_ = turns;
}

Turns* PostgresGate::turns() const {
  std::lock_guard lock{mutex_};
  return turns_;
}

}  // namespace holdfast::test
