#pragma once

#include <string>
#include <string_view>

#include "engines/redis/address.hpp"

namespace holdfast::sidekiq {

/// What differs between the generations of the gem. Both are read alike; only what is written has
/// to be chosen.
struct Dialect {
  std::string_view name;
  std::string_view prefix;  ///< of the keys in Redis
  std::string_view request_class;
  std::string_view callback_class;
  std::string_view errors;    ///< the module that the classes of errors are in
  std::string_view payloads;  ///< what keys of payloads kept apart begin with
  bool gzip = false;          ///< how large bodies are compressed: as gzip, or as zlib
};

/// Throws `ConfigError` naming those that there are.
const Dialect& dialect_named(std::string_view name);

struct Address {
  redis::Address redis;
  const Dialect* dialect = nullptr;
};

/// Throws `ConfigError`.
Address parse_address(std::string_view text);

}  // namespace holdfast::sidekiq
