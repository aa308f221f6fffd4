#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/http/payloads.hpp>
#include <holdfast/traces.hpp>

#include "server/store_place.hpp"

namespace holdfast::server {

/// How `holdfast serve` was started.
struct ServeOptions {
  std::string listen = "localhost:8420";  ///< on IPv4 and, where there is one, IPv6
  bool no_auth = false;
  bool read_only = false;
  bool behind_proxy = false;
  /// Addresses and networks of that proxy; none: on a loopback address, this machine.
  std::vector<std::string> trusted_proxies{};
  std::string certificate{};
  std::string key{};
  std::string users{};                    ///< a file; empty: only the token
  std::string tokens{};                   ///< a file; empty: `tokens` in the folder
  std::vector<std::string> host_names{};  ///< by which it may be called, beside its address
  std::string folder{};                   ///< for its tokens and its audit log
  int max_connections = 0;                ///< 0: as many as there are descriptors for
  int max_per_address = 64;               ///< of one address, without a credential
  std::optional<TraceOptions> traces{};   ///< of attempts of remote workers
  http::PayloadOptions payloads{};        ///< to read what remote workers get
  /// Gets lines for the log: the name of an event, and a text. From any thread.
  std::function<void(std::string_view, const std::string&)> warn = [](auto, const auto&) {};
};

/// What to tell whoever started it.
struct Started {
  struct Store {
    std::string name{};
    std::string trouble{};  ///< why it is not there yet; empty: it is
    bool is_new = false;
  };
  std::vector<Store> stores{};
  std::string url{};
  std::string login{};       ///< a link that works once; empty: no login is needed
  std::string token_file{};  ///< of the token that may do everything
  /// What is wrong with the tokens of programs; the server runs without those.
  std::vector<std::string> token_faults{};
  std::string audit{};  ///< what was wrong with the audit log; empty: nothing
};

/// Where a server with this folder keeps the tokens of programs, unless it is told otherwise.
std::string tokens_file(const std::string& folder);

/// What can be done with a server that runs, from any thread, and in vain when it has ended.
struct Controls {
  std::function<void()> stop{};
  /// Goes the way of a request: from the thread of the network to another and back, and then tells
  /// how the stores are. Never tells anything where that hangs; a store that does is told of.
  struct Found {
    bool broken = false;    ///< this process cannot use a store any more, whatever is tried
    std::string trouble{};  ///< why a store cannot be read now
  };
  std::function<void(std::function<void(Found)>)> probe{};
};

/// Throws `ConfigError` with the reason if it must not be started like this: what can be reached
/// from elsewhere needs users and TLS.
void check(const ServeOptions& options);

/// Serves until `stop` is called; `started` gets how to reach it. A store that is away and may be
/// is waited for meanwhile.
void serve(const ServeOptions& options, std::vector<StoreToServe> stores,
           const std::function<void(const Started&, Controls)>& started);

}  // namespace holdfast::server
