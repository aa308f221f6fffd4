#include "support/redis_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "support/loopback.hpp"

namespace holdfast::test {

namespace {

constexpr int slots = 16'384;
constexpr const char* password = "s3cret";

std::string with_any_prefix(std::string right) {
  if (auto at = right.find("{holdfast}"); at != right.npos) right.replace(at, 10, "{*}");
  return right;
}

}  // namespace

RedisServer::RedisServer(Options options) : options_{std::move(options)} {
  if (options_.tls) make_certificate(folder());
  if (options_.own_clock) clock_.emplace(folder());
  start();
}

RedisServer::~RedisServer() { kill(); }

std::vector<std::string> documented_rights(const std::string& page) {
  std::ifstream file{std::string{HOLDFAST_SOURCE_DIR "/docs/"} + page};
  const std::string begin = "ACL SETUSER holdfast on >PASSWORD ";
  std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
  auto at = text.find(begin);
  if (at == text.npos) throw std::runtime_error{page + " has no ACL SETUSER"};
  auto first = at + begin.size();
  std::istringstream words{text.substr(first, text.find("```", first) - first)};
  std::vector<std::string> rights;
  for (std::string word; words >> word;)
    if (word != "\\") rights.push_back(word);
  return rights;
}

std::string RedisServer::address_of(const std::string& user) const {
  auto login = user.empty() ? std::string{} : fmt::format("{}:{}@", user, password);
  return fmt::format("{}://{}127.0.0.1:{}", options_.tls ? "rediss" : "redis", login, port_);
}

redis::Reply RedisServer::call(const redis::Command& command) {
  redis::Connection connection{redis::Address::parse(socket_address()),
                               redis::Endpoint{.socket = socket()}, Millis{30'000}};
  return connection.call(command);
}

bool RedisServer::try_start() {
  auto port = std::to_string(port_);
  std::vector<std::string> command{"/usr/bin/setpriv",
                                   "--pdeathsig",
                                   "KILL",
                                   "/usr/bin/redis-server",
                                   "--bind",
                                   "127.0.0.1",
                                   "--dir",
                                   folder(),
                                   "--unixsocket",
                                   socket(),
                                   "--save",
                                   "",
                                   "--appendonly",
                                   options_.append_only ? "yes" : "no",
                                   "--appendfsync",
                                   "always",
                                   "--repl-diskless-sync-delay",
                                   "0"};
  auto add = [&](std::initializer_list<std::string> more) { command.insert(command.end(), more); };
  if (options_.tls)
    add({"--port", "0", "--tls-port", port, "--tls-cert-file", folder() / "ca.crt",
         "--tls-key-file", folder() / "ca.key", "--tls-auth-clients", "no"});
  else
    add({"--port", port});
  if (options_.cluster) add({"--cluster-enabled", "yes", "--cluster-node-timeout", "2000"});
  for (auto [user, page] :
       {std::pair{"holdfast", "redis.md"}, std::pair{"sidekiq", "sidekiq.md"}}) {
    add({"--user", user, "on", fmt::format(">{}", password)});
    for (const auto& right : documented_rights(page)) add({with_any_prefix(right)});
  }
  command.insert(command.end(), options_.more.begin(), options_.more.end());
  ::unlink(socket().c_str());
  process_ = std::make_unique<Process>(command, clock_ ? clock_->environment() : Environment{});
  return eventually([&] {
           if (!process_->running()) return true;
           try {
             auto pong = call({"PING"});
             return !pong.is_error() || pong.text().starts_with("NOAUTH");
           } catch (const StoreError&) {
             return false;
           }
         }) &&
         process_->running();
}

void RedisServer::start() {
  for (int tries = 0; tries < 5; ++tries) {
    // Somebody else may have taken a port that was free; one that was ours before is ours.
    bool first = port_ == 0;
    if (first) port_ = free_port();
    if (try_start()) return;
    if (first) port_ = 0;
  }
  throw std::runtime_error{"redis-server does not start: " + process_->out()};
}

void RedisServer::kill() { process_->kill(); }

RedisCluster::RedisCluster() {
  for (int i = 0; i < 3; ++i)
    nodes_.push_back(std::make_unique<RedisServer>(RedisServer::Options{.cluster = true}));
  for (int i = 0; i < 3; ++i) {
    auto& node = *nodes_[static_cast<std::size_t>(i)];
    node.call({"CLUSTER", "ADDSLOTSRANGE", std::to_string(i * slots / 3),
               std::to_string((i + 1) * slots / 3 - 1)});
    node.call({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_.front()->port())});
  }
  for (auto& node : nodes_) {
    bool formed = eventually(
        [&] {
          auto info = node->call({"CLUSTER", "INFO"});
          return info.text().find("cluster_state:ok") != std::string_view::npos &&
                 info.text().find("cluster_known_nodes:3") != std::string_view::npos;
        },
        std::chrono::seconds{60});
    if (!formed) throw std::runtime_error{"the cluster does not form"};
  }
}

std::string RedisCluster::slot_of(const std::string& prefix) {
  return std::to_string(node(0).call({"CLUSTER", "KEYSLOT", "{" + prefix + "}"}).number());
}

std::size_t RedisCluster::home_of(const std::string& prefix) {
  auto slot = std::stoi(slot_of(prefix));
  return slot < slots / 3 ? 0 : slot < 2 * slots / 3 ? 1 : 2;
}

void RedisCluster::move_store(const std::string& prefix, std::size_t from, std::size_t to,
                              const std::function<void()>& half_way) {
  auto slot = slot_of(prefix);
  auto id = [&](std::size_t which) { return node(which).call({"CLUSTER", "MYID"}).string(); };
  node(to).call({"CLUSTER", "SETSLOT", slot, "IMPORTING", id(from)});
  node(from).call({"CLUSTER", "SETSLOT", slot, "MIGRATING", id(to)});
  for (bool first = true;; first = false) {
    auto keys = node(from).call({"CLUSTER", "GETKEYSINSLOT", slot, "20"});
    if (keys.size() == 0) break;
    redis::Command move{"MIGRATE", "127.0.0.1", std::to_string(node(to).port()), "", "0",
                        "30000",   "KEYS"};
    for (std::size_t i = 0; i < keys.size(); ++i) move.push_back(keys[i].string());
    auto moved = node(from).call(move);
    if (moved.is_error()) throw std::runtime_error{"cannot move keys: " + moved.string()};
    if (first && half_way) half_way();
  }
  for (auto which : {to, from, 3 - to - from})
    node(which).call({"CLUSTER", "SETSLOT", slot, "NODE", id(to)});
}

std::string RedisCluster::whole_address() const {
  auto text = address();
  for (std::size_t i = 1; i < nodes_.size(); ++i)
    text += fmt::format(",127.0.0.1:{}", nodes_[i]->port());
  return text;
}

RedisServer& RedisCluster::add_replica(std::size_t of) {
  auto id = node(of).call({"CLUSTER", "MYID"}).string();
  nodes_.push_back(std::make_unique<RedisServer>(RedisServer::Options{.cluster = true}));
  auto& replica = *nodes_.back();
  replica.call({"CLUSTER", "MEET", "127.0.0.1", std::to_string(node(of).port())});
  bool replicates = eventually(
      [&] {
        return !replica.call({"CLUSTER", "REPLICATE", id}).is_error();
      },
      std::chrono::seconds{60});
  // Who has not heard of it would not believe that it takes over.
  bool known = replicates && eventually(
                                 [&] {
                                   return std::ranges::all_of(nodes_, [&](const auto& each) {
                                     auto list = each->call({"CLUSTER", "NODES"}).string();
                                     return static_cast<std::size_t>(
                                                std::ranges::count(list, '\n')) == nodes_.size() &&
                                            list.find("handshake") == std::string::npos &&
                                            list.find("slave " + id) != std::string::npos;
                                   });
                                 },
                                 std::chrono::seconds{60});
  if (!known) throw std::runtime_error{"the replica does not join the cluster"};
  return replica;
}

void RedisCluster::flush() {
  for (auto& node : nodes_) node->call({"FLUSHALL"});
}

RedisServer& shared_redis() {
  static RedisServer server;
  return server;
}

RedisServer& shared_lasting_redis() {
  static RedisServer server{{.append_only = true}};
  return server;
}

RedisCluster& shared_redis_cluster() {
  static RedisCluster cluster;
  return cluster;
}

}  // namespace holdfast::test
