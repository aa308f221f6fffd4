#include "support/rabbitmq_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <holdfast/broker.hpp>

#include "support/loopback.hpp"

namespace holdfast::test {

namespace {

/// Debian's own command insists on another user; the programs behind it do not.
std::string program(const std::string& name) {
  for (const auto& version : std::filesystem::directory_iterator{"/usr/lib/rabbitmq/lib"}) {
    auto path = version.path() / "sbin" / name;
    if (std::filesystem::exists(path)) return path;
  }
  throw std::runtime_error{"rabbitmq-server is not installed; script/setup does that"};
}

constexpr std::chrono::seconds to_start{180};  ///< much longer than it takes

}  // namespace

RabbitmqServer& RabbitmqServer::shared() {
  static RabbitmqServer server;
  return server;
}

RabbitmqServer::RabbitmqServer() {
  make_certificate(folder_.folder());
  for (int tries = 0;; ++tries) {
    // Somebody else may take a port between here and the start.
    port_ = free_port();
    tls_port_ = free_port();
    directory_port_ = free_port();
    node_port_ = free_port();
    configure();
    directory_ = std::make_unique<Process>(std::vector<std::string>{
        "/usr/bin/setpriv", "--pdeathsig", "KILL", "/usr/bin/epmd", "-port",
        std::to_string(directory_port_), "-address", "127.0.0.1"});
    try {
      start();
      return;
    } catch (const std::runtime_error&) {
      if (tries == 2) throw;
    }
  }
}

RabbitmqServer::~RabbitmqServer() { kill(); }

std::string RabbitmqServer::address(const std::string& parameters) const {
  return fmt::format("amqp://{}:{}@127.0.0.1:{}?{}", user, password, port_, parameters);
}

std::string RabbitmqServer::tls_address(const std::string& parameters) const {
  return fmt::format("amqps://{}:{}@127.0.0.1:{}?{}", user, password, tls_port_, parameters);
}

void RabbitmqServer::configure() const {
  auto folder = folder_.folder();
  std::ofstream file{folder / "rabbitmq.conf"};
  file << "default_user = " << user << "\ndefault_pass = " << password << "\n"
       << "log.console = true\nlog.console.level = warning\nlog.file = false\n"
       << "disk_free_limit.absolute = 1MB\nmax_message_size = 268435456\n";
  file << "listeners.tcp.1 = 127.0.0.1:" << port_ << "\n"
       << "listeners.ssl.1 = 127.0.0.1:" << tls_port_ << "\n"
       << "ssl_options.certfile = " << certificate() << "\n"
       << "ssl_options.keyfile = " << (folder / "ca.key").string() << "\n";
  std::ofstream{folder / "plugins"} << "[].\n";
}

Environment RabbitmqServer::environment() const {
  auto folder = folder_.folder().string();
  return {
      {"HOME", folder},
      {"ERL_EPMD_PORT", std::to_string(directory_port_)},
      {"ERL_EPMD_ADDRESS", "127.0.0.1"},
      {"RABBITMQ_NODENAME", "holdfast@localhost"},
      {"RABBITMQ_DIST_PORT", std::to_string(node_port_)},
      {"RABBITMQ_CONFIG_FILE", folder + "/rabbitmq"},
      {"RABBITMQ_CONF_ENV_FILE", "/dev/null"},
      {"RABBITMQ_ENABLED_PLUGINS_FILE", folder + "/plugins"},
      {"RABBITMQ_MNESIA_BASE", folder + "/data"},
      {"RABBITMQ_LOG_BASE", folder + "/log"},
      {"RABBITMQ_PID_FILE", folder + "/pid"},
      // So that the server takes the place of its script, and dies when that is to die.
      {"RUNNING_UNDER_SYSTEMD", "1"},
      // Its threads do not spin while they wait: other tests need the processor, too.
      {"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
       "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none"},
  };
}

bool RabbitmqServer::answers() const {
  try {
    return !open_broker(address())->exists("nothing");
  } catch (const BrokerError&) {
    return false;
  }
}

void RabbitmqServer::start() {
  server_ = std::make_unique<Process>(std::vector<std::string>{"/usr/bin/setpriv", "--pdeathsig",
                                                               "KILL", program("rabbitmq-server")},
                                      environment());
  bool up = eventually([&] { return !server_->running() || answers(); }, to_start);
  if (!up || !server_->running())
    throw std::runtime_error{"RabbitMQ does not start:\n" + server_->out() + server_->err()};
}

void RabbitmqServer::kill() { server_->kill(); }

// By our own end of them: the server's own command for that takes seconds.
void RabbitmqServer::cut_connections() const {
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    int fd = std::stoi(entry.path().filename());
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        peer.sin_family == AF_INET && ntohs(peer.sin_port) == port_)
      ::shutdown(fd, SHUT_RDWR);
  }
}

Process RabbitmqServer::fill_disk_for(std::chrono::milliseconds time) const {
  return evaluate(
      fmt::format("rabbit_disk_monitor:set_disk_free_limit(\"1000000GB\"), timer:sleep({}),"
                  "rabbit_disk_monitor:set_disk_free_limit(\"1MB\").",
                  time.count()));
}

Process RabbitmqServer::evaluate(const std::string& words) const {
  return Process{{program("rabbitmqctl"), "--quiet", "eval", words}, environment()};
}

/// `words` speak of the process `Name`.
void RabbitmqServer::evaluate_for(const std::vector<std::string>& queues,
                                  const std::string& words) const {
  std::string names;
  for (const auto& queue : queues)
    names += fmt::format("{}'%2F_{}'", names.empty() ? "" : ",", queue);
  auto command = evaluate(fmt::format("[begin {} end || Name <- [{}]], ok.", words, names));
  const auto ending = command.wait();
  if (!ending || !ending->ok()) throw std::runtime_error{command.out() + command.err()};
}

void RabbitmqServer::kill_leaders(const std::vector<std::string>& queues) const {
  evaluate_for(queues, "exit(whereis(Name), kill)");
}

void RabbitmqServer::kill_leaders_for_good(const std::vector<std::string>& queues) const {
  evaluate_for(queues,
               "lists:foreach(fun(_) -> case whereis(Name) of undefined -> ok;"
               " Pid -> exit(Pid, kill) end, timer:sleep(50) end, lists:seq(1, 20)),"
               "undefined = whereis(Name)");
}

void RabbitmqServer::revive_leaders(const std::vector<std::string>& queues) const {
  // Each queue has a process that passes on its dead letters. If the queue is removed before that
  // is ready, their supervisor ends, and then no queue can be read.
  evaluate_for(
      queues,
      "ok = ra:restart_server(quorum_queues, {Name, node()}),"
      "{ok, _, _} = ra:members({Name, node()}),"
      "[sys:get_state(P) || {_, P, _, _} <- supervisor:which_children(rabbit_fifo_dlx_sup),"
      " is_pid(P)]");
}

}  // namespace holdfast::test
