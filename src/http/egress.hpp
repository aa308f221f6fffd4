#pragma once

#include <set>
#include <string>
#include <vector>

#include <holdfast/http/processor.hpp>

#include "http/address.hpp"

namespace holdfast::http {

/// Decides where connections may go to.
class Egress {
 public:
  /// Throws `ConfigError` for an exception that is neither a network nor a host.
  explicit Egress(const EgressOptions& options);

  /// Why not, in a sentence; empty: it may. `host` is what the URL says, `address` what it became.
  std::string refusal(const std::string& host, const Address& address, int port) const;

 private:
  bool everything_;
  std::vector<Network> networks_;
  std::set<std::string> hosts_;
};

}  // namespace holdfast::http
