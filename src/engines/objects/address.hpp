#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/objects/request.hpp"

namespace holdfast::objects {

/// The address of a store of blobs that is a service, taken apart:
/// `SCHEME://NAME@HOST:PORT/PATH?PARAMETERS`. Without `NAME@`, what stands for the host may be a
/// name; that is for the engine to say.
struct Address {
  std::string text;  ///< all of it; there are no secrets in it
  std::string scheme;
  std::string name{};
  std::string host;  ///< with its port
  std::vector<std::string> path{};
  Query parameters{};

  /// Throws `ConfigError`, and does not repeat the address where a secret may be in it.
  static Address parse(std::string_view text);

  /// Throws `ConfigError` for parameters that are not among these.
  void allow(const std::vector<std::string>& names) const;
  /// Empty: it was not given.
  std::string parameter(const std::string& wanted) const;
  /// The folder that all keys are in, with a slash at its end: the path from its `first` part on.
  std::string prefix(std::size_t first) const;
};

/// A variable of the environment; empty: there is none.
std::string from_environment(const char* name);
/// The lines of a file with keys. Throws `ConfigError` where it cannot be read.
std::vector<std::string> lines_of(const std::string& file);

}  // namespace holdfast::objects
