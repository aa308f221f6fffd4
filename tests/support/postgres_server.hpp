#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/server_clock.hpp"

namespace holdfast::test {

/// A PostgreSQL server of this test program alone, on a Unix socket in a folder of its own. It is
/// started at its first use and ends with the program, however that ends. Nothing of it is synced
/// to disk: tests kill processes, not the machine.
class PostgresServer {
 public:
  /// The one that all tests of this program share.
  static PostgresServer& shared();

  struct Options {
    std::vector<std::string> addresses{};  ///< also listen on these, which must be ours
    std::string settings{};                ///< more lines for its configuration
    bool own_clock = false;                ///< that `set_clock` sets
  };
  explicit PostgresServer(const Options& options);
  PostgresServer() : PostgresServer{Options{}} {}
  /// A standby that copies everything from `first`, until it is promoted.
  static std::unique_ptr<PostgresServer> standby_of(const PostgresServer& first);
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

  /// Makes a standby the server to write to.
  void promote();
  void stop();  ///< at once, as after a crash of the server
  void start();
  /// Steps its wall clock while it runs.
  void set_clock(std::chrono::seconds ahead) const { clock_->set(ahead); }
  /// All its processes stand still, as if its machine hung: connections stay, and nobody answers.
  void freeze();
  void thaw();

 private:
  struct Unmade {};
  explicit PostgresServer(Unmade);
  void make_folder();
  void init();
  void configure(const std::string& more) const;
  pid_t spawn(const std::string& command, bool wait) const;

  std::string folder_;
  int port_ = 0;
  void signal_all(int number) const;

  std::optional<ServerClock> clock_;
  pid_t pid_ = -1;
  int stores_ = 0;
};

}  // namespace holdfast::test
