#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/request.hpp"
#include "server/role.hpp"

namespace holdfast::server {

/// So much the body of a request may have, unless its route says otherwise.
inline constexpr std::size_t small_body = 64 * 1024;
/// Of requests with payloads or results.
inline constexpr std::size_t large_body = 8 * 1024 * 1024;

/// Whom a handler asks, and so who may keep it waiting.
enum class Asks {
  nobody,  ///< never waits, so it is answered by the network's own thread, whatever hangs
  server,  ///< what this process has: files, passwords
  store,   ///< the one that the request is about
};

/// One thing that can be asked for. Everything that the server answers is in one table of these.
struct Route {
  std::string method;
  std::string pattern;  ///< `/v1/tasks/{id}`
  Access access = Access::undeclared;
  std::function<Response(const Request&)> handler{};
  std::size_t largest_body = small_body;
  /// An action of a person, which the audit log has. Not what programs do all the time, enqueuing
  /// and working: of that, the tasks' own histories tell.
  bool audited = false;
  Asks asks = Asks::store;
  /// Asked first, before the audit log has the request; throws `Problem` where that is not even to
  /// be noted, because it comes too often.
  std::function<void(const Request&)> brake{};
};

class Routes {
 public:
  void add(Route route) { routes_.push_back(std::move(route)); }
  const std::vector<Route>& all() const { return routes_; }

  struct Match {
    const Route* route = nullptr;
    std::map<std::string, std::string> places{};
    std::set<std::string> allowed{};  ///< the path is there, with these methods only
  };
  /// `path` is decoded segment by segment, so that `%2F` within one does not part it. HEAD is
  /// answered like GET, by whoever sends the answer without its body.
  Match find(std::string_view method, std::string_view raw_path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace holdfast::server
