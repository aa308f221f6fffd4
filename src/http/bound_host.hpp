#pragma once

#include <string>
#include <string_view>

#include "http/url.hpp"

namespace holdfast::http {

/// One host that a secret is bound to, as `Binding::hosts` has it.
struct BoundHost {
  Origin origin{};     ///< https on port 443 where nothing else is written
  bool below = false;  ///< every host below this one, and not itself

  /// Throws `ConfigError` for what is not a host, and for wildcards that cover whole domains of the
  /// internet (`*`, `*.org`).
  static BoundHost parse(std::string_view text);
  /// Scheme, host and port are the same; a host is compared as it is written, but for addresses.
  bool covers(const Origin& to) const;
};

/// How it is written in a binding: `api.example.org`, `http://127.0.0.1:8080`.
std::string bound_host_text(const Origin& origin);
/// With its scheme, and its port where that is not the usual one.
std::string url_text(const Origin& origin);

}  // namespace holdfast::http
