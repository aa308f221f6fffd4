#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/json/value.hpp>

#include <holdfast/blobs.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/tasks.hpp>

#include "server/listener.hpp"
#include "server/service.hpp"
#include "server/wire_call.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {

/// A server in this process, on a store of its own.
class ServerUnderTest {
 public:
  struct Options {
    Settings settings{};
    bool no_auth = false;
    bool read_only = false;
    std::string users{};  ///< the content of the file; empty: none
    http::PayloadOptions payloads{};
    int threads = 4;
    std::size_t connections = 0;  ///< 0: as many as there are descriptors for
    /// Of the proxy that it is behind; none: it is not.
    std::vector<std::string> proxies{};
  };
  ServerUnderTest();
  explicit ServerUnderTest(const Options& options);
  ~ServerUnderTest();

  /// As a program with the token.
  Answer get(const std::string& target);
  Answer post(const std::string& target, const std::string& body = "{}", Headers more = {});
  /// As nobody, unless the headers say otherwise.
  Answer bare(const std::string& method, const std::string& target, const std::string& body = {},
              const Headers& headers = {});
  Headers bearer() const;
  /// Makes a token of a program, by a name of its own unless one is given; returns its secret.
  std::string new_token(server::ProgramToken token);
  server::Tokens& tokens() { return *tokens_; }
  std::string host() const;
  int port() const { return port_; }

  TaskId enqueue(const std::string& kind, const std::string& payload = "{}",
                 TaskOptions options = {});
  Engine engine() const { return engine_; }
  Inspector inspector() const { return Inspector{engine_}; }
  server::Service& service() { return *service_; }
  std::string folder() const { return folder_; }
  /// Where output files of batches are.
  std::string output_folder() const { return store_.folder() / "output"; }
  std::shared_ptr<BlobStore> output() const;
  const TempStore& store() const { return store_; }
  const std::string& token() const { return token_; }
  /// What it wrote into its log.
  std::string log() const;

 private:
  TempStore store_;
  std::string folder_;
  Engine engine_;
  std::string token_;
  mutable std::mutex log_mutex_;
  std::string log_;
  std::shared_ptr<server::Tokens> tokens_;
  int made_tokens_ = 0;
  int port_ = 0;
  std::unique_ptr<server::Listener> listener_;
  std::unique_ptr<server::Service> service_;
  std::thread thread_;
};

/// What does not fit; empty if the value is as the schema of openapi.json says.
std::string misfit(const boost::json::value& value, const boost::json::value& schema,
                   const boost::json::value& document, const std::string& where = "answer");

}  // namespace holdfast::test
