#pragma once

#include <memory>
#include <string>
#include <thread>

#include <holdfast/engine.hpp>

#include "server/listener.hpp"
#include "server/secrets.hpp"
#include "server/service.hpp"

namespace holdfast::bench {

/// A server in this process, on loopback.
class ServedStore {
 public:
  /// `folder` is for what the server keeps. Without `token` anybody on this machine may do
  /// everything, as browsers of benchmarks do.
  ServedStore(const Engine& engine, const std::string& folder, std::string token);
  ~ServedStore();
  ServedStore(const ServedStore&) = delete;
  ServedStore& operator=(const ServedStore&) = delete;

  int port() const { return listener_.port(); }
  std::string url() const;
  /// The bytes of a request that it answers.
  std::string request(const std::string& method, const std::string& target,
                      const std::string& body = {}) const;

 private:
  std::string token_;
  server::Listener listener_{server::ListenOptions{}};
  std::unique_ptr<server::Service> service_;
  std::thread thread_;
};

}  // namespace holdfast::bench
