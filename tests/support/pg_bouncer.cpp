#include "support/pg_bouncer.hpp"

#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

namespace holdfast::test {

PgBouncer::PgBouncer(const PostgresServer& server, const std::string& database,
                     const std::string& role)
    : database_{database}, role_{role} {
  auto folder = folder_.folder();
  std::ofstream{folder / "pgbouncer.ini"}
      << "[databases]\n"
      << database << " = host=" << server.folder() << " port=" << server.port() << " user=" << role
      << "\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n"
      << "listen_addr =\nlisten_port = 6432\nunix_socket_dir = " << folder.string()
      << "\nlogfile = " << (folder / "log").string() << "\ndefault_pool_size = 3\n";
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  std::vector<std::string> command{"/usr/sbin/pgbouncer", folder / "pgbouncer.ini"};
  // It refuses to run as root.
  if (::geteuid() == 0) command.insert(command.begin() + 1, {"--user", "postgres"});
  process_.emplace(command);
}

std::string PgBouncer::address(const std::string& parameters) const {
  return fmt::format("postgres:host={} port=6432 dbname={} user={} {}", folder_.folder().string(),
                     database_, role_, parameters);
}

}  // namespace holdfast::test
