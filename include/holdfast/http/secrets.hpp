#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

/// Where a secret or a signing key may be sent, and which requests may use it. Who may enqueue a
/// request may name any secret in it; the binding decides what comes of that.
struct Binding {
  /// `api.example.org` is https on port 443; `api.example.org:8443` is https on another port;
  /// `*.example.org` is every host below `example.org`, without itself; `http://10.0.0.7:8080` is
  /// clear text, which must be written out. Empty: it is not bound, and is not sent.
  std::vector<std::string> hosts{};
  std::vector<std::string> queues{};  ///< names, or beginnings such as `billing*`; empty: all
  std::vector<std::string> kinds{};   ///< of tasks, in the same way; empty: all
  /// The file that an operator has to change, for error messages; empty: there is none.
  std::string source{};
};

/// The value of a secret or signing key, and its binding.
struct Secret {
  std::string value{};
  Binding binding{};
};

/// Reads the lines of a file such as `token.bind`: `host HOST`, `queue QUEUE` and `kind KIND`, each
/// as often as needed. Empty lines and what follows `#` are ignored. Throws `ConfigError` that
/// names `source` and the line, also if no host is named.
Binding parse_binding(std::string_view text, std::string source);

/// Throws `ConfigError` for a host, queue or kind that cannot be one.
void validate(const Binding& binding);

}  // namespace holdfast::http
