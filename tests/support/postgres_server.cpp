#include "support/postgres_server.hpp"

#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/process.hpp"

namespace holdfast::test {

namespace {

constexpr const char* programs = "/usr/lib/postgresql/15/bin";

/// The server refuses to run as root.
const passwd* somebody_else() {
  if (::geteuid() != 0) return nullptr;
  const auto* user = ::getpwnam("postgres");
  return user ? user : ::getpwnam("nobody");
}

[[noreturn]] void become(const std::string& command, const std::string& folder, pid_t parent) {
  if (const auto* user = somebody_else()) {
    if (::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0) ::_exit(126);
  }
  // After the change of user, which forgets it. The server's quickest way to end is this signal.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent || ::chdir(folder.c_str()) != 0) ::_exit(126);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

}  // namespace

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer(Unmade) { make_folder(); }

PostgresServer::PostgresServer(const Options& options) : PostgresServer{Unmade{}} {
  init();
  configure(options.settings);
  if (!options.addresses.empty()) {
    configure(fmt::format("listen_addresses = '{}'\n", fmt::join(options.addresses, ",")));
    std::ofstream{folder_ + "/data/pg_hba.conf", std::ios::app} << "host all all all trust\n";
  }
  if (options.own_clock) clock_.emplace(folder_);
  start();
}

std::unique_ptr<PostgresServer> PostgresServer::standby_of(const PostgresServer& first) {
  std::unique_ptr<PostgresServer> standby{new PostgresServer{Unmade{}}};
  standby->spawn(
      fmt::format("{}/pg_basebackup --pgdata=data --write-recovery-conf --checkpoint=fast "
                  "--no-sync --dbname='{}' > init.log 2>&1",
                  programs, first.connection()),
      true);
  standby->configure(fmt::format("unix_socket_directories = '{}'\n", standby->folder_));
  standby->start();
  return standby;
}

void PostgresServer::make_folder() {
  std::string pattern = std::filesystem::temp_directory_path() / "holdfast-postgres-XXXXXX";
  if (!::mkdtemp(pattern.data())) throw std::runtime_error{"cannot make " + pattern};
  folder_ = pattern;
  // A port is only part of the name of the socket here, or belongs to an address of our own.
  port_ = 5432;
  if (const auto* user = somebody_else()) {
    if (::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error{"cannot give away " + folder_};
  }
  ::chmod(folder_.c_str(), 0755);
}

void PostgresServer::configure(const std::string& more) const {
  std::ofstream{folder_ + "/data/postgresql.auto.conf", std::ios::app} << more;
}

// Not by a query: what the standby still replays may cancel that.
void PostgresServer::promote() {
  spawn(fmt::format("{}/pg_ctl promote --pgdata=data --wait > promote.log 2>&1", programs), true);
}

PostgresServer::~PostgresServer() {
  stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

pid_t PostgresServer::spawn(const std::string& command, bool wait) const {
  auto parent = ::getpid();
  auto child = ::fork();
  if (child == 0) become(command, folder_, parent);
  if (!wait) return child;
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0)
    throw std::runtime_error{
        fmt::format("{}\nfailed:\n{}", command, contents(folder_ + "/init.log"))};
  return 0;
}

void PostgresServer::init() {
  spawn(fmt::format("{}/initdb --pgdata=data --auth=trust --username=admin --encoding=UTF8 "
                    "--locale=C --no-sync --no-instructions > init.log 2>&1",
                    programs),
        true);
  configure(
      "fsync = off\nfull_page_writes = off\nshared_buffers = 64MB\nmax_connections = 200\n"
      "listen_addresses = ''\nautovacuum_naptime = 5s\nlog_min_messages = fatal\n"
      "max_wal_size = 512MB\nunix_socket_permissions = 0777\n");
  configure(fmt::format("unix_socket_directories = '{}'\n", folder_));
}

void PostgresServer::start() {
  pid_ = spawn(fmt::format("{}exec {}/postgres -D data -p {} > server.log 2>&1",
                           clock_ ? clock_->words() : "", programs, port_),
               false);
  bool up = eventually([&] { return PQping(connection().c_str()) == PQPING_OK; },
                       std::chrono::seconds{60});
  if (!up)
    throw std::runtime_error{"PostgreSQL does not start:\n" + contents(folder_ + "/server.log")};
}

void PostgresServer::stop() {
  if (pid_ < 0) return;
  thaw();
  ::kill(pid_, SIGQUIT);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
}

void PostgresServer::signal_all(int number) const {
  ::kill(pid_, number);
  std::ifstream children{fmt::format("/proc/{0}/task/{0}/children", pid_)};
  for (pid_t child = 0; children >> child;) ::kill(child, number);
}

void PostgresServer::freeze() { signal_all(SIGSTOP); }
void PostgresServer::thaw() { signal_all(SIGCONT); }

std::string PostgresServer::connection(const std::string& parameters) const {
  auto user = parameters.find("user=") == parameters.npos ? " user=admin" : "";
  return fmt::format("host={} port={} dbname=postgres{} {}", folder_, port_, user, parameters);
}

std::string PostgresServer::address(const std::string& parameters) const {
  return "postgres:" + connection(parameters);
}

std::string PostgresServer::new_store() {
  return address(fmt::format("schema=store_{}_{}", ::getpid(), ++stores_));
}

std::string PostgresServer::ask(const std::string& sql) const {
  std::unique_ptr<PGconn, void (*)(PGconn*)> db{PQconnectdb(connection().c_str()), PQfinish};
  std::unique_ptr<PGresult, void (*)(PGresult*)> result{PQexec(db.get(), sql.c_str()), PQclear};
  auto status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    throw std::runtime_error{PQerrorMessage(db.get())};
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

}  // namespace holdfast::test
