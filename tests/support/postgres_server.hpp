#pragma once

#include <sys/types.h>

#include <string>

namespace holdfast::test {

/// A PostgreSQL server of this test program alone, on a Unix socket in a folder of its own. It is
/// started at its first use and ends with the program, however that ends. Nothing of it is synced
/// to disk: tests kill processes, not the machine.
class PostgresServer {
 public:
  /// The one that all tests of this program share.
  static PostgresServer& shared();

  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// The address of an empty store: each is a schema of its own.
  std::string new_store();
  /// The address of the server itself with more parameters, such as `user=somebody`.
  std::string address(const std::string& parameters = {}) const;
  std::string connection(const std::string& parameters = {}) const;  ///< in the words of libpq
  std::string folder() const { return folder_; }
  int port() const { return port_; }

  /// Runs statements as the administrator and returns the first value of the first row.
  std::string ask(const std::string& sql) const;

  void stop();  ///< at once, as after a crash of the server
  void start();

 private:
  void init();
  pid_t spawn(const std::string& command, bool wait) const;

  std::string folder_;
  int port_ = 0;
  pid_t pid_ = -1;
  int stores_ = 0;
};

}  // namespace holdfast::test
