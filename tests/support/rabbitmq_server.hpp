#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// A RabbitMQ server of this test program alone, on ports of the loopback and in a folder of its
/// own, with a directory of Erlang nodes of its own. It takes seconds to start, so tests share one.
/// Ends with this object, and with the test program if that is killed.
class RabbitmqServer {
 public:
  RabbitmqServer();
  ~RabbitmqServer();

  /// The one that all tests of this program share.
  static RabbitmqServer& shared();

  static constexpr const char* user = "tester";
  static constexpr const char* password = "s3cret-of-tests";
  std::string address(const std::string& parameters = {}) const;
  /// The same over TLS, with a certificate made for the test.
  std::string tls_address(const std::string& parameters = {}) const;
  std::string certificate() const { return folder_.folder() / "ca.crt"; }
  int port() const { return port_; }

  /// SIGKILL, and start again on the same ports and folder.
  void kill();
  void start();
  /// Ends every connection of this process to the server.
  void cut_connections() const;
  /// Makes the server believe that its disk is full, soon and for so long.
  Process fill_disk_for(std::chrono::milliseconds time) const;
  /// Kills the processes inside of the server that lead these queues, which it starts again.
  void kill_leaders(const std::vector<std::string>& queues) const;
  /// So often in a row that it gives up: these queues are down until they are revived.
  void kill_leaders_for_good(const std::vector<std::string>& queues) const;
  void revive_leaders(const std::vector<std::string>& queues) const;

 private:
  void configure() const;
  Environment environment() const;
  /// Has the server evaluate Erlang.
  Process evaluate(const std::string& words) const;
  void evaluate_for(const std::vector<std::string>& queues, const std::string& words) const;
  bool answers() const;

  TempStore folder_;
  int port_ = 0;
  int tls_port_ = 0;
  int directory_port_ = 0;
  int node_port_ = 0;
  std::unique_ptr<Process> directory_;
  std::unique_ptr<Process> server_;
};

}  // namespace holdfast::test
