#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <holdfast/events.hpp>
#include <holdfast/settings.hpp>

namespace holdfast {

class EngineParts;

/// An open store. A cheap handle: copies share the store, which closes with the last of them.
/// Safe to use from many threads.
class Engine {
 public:
  explicit Engine(std::shared_ptr<EngineParts> parts) : parts_{std::move(parts)} {}

  const Settings& settings() const;
  /// What may be done with it. `halted` is never seen here: then it does not open.
  RunLevel run_level() const;
  Events& events() const;
  /// The address without secrets, for messages.
  std::string name() const;

  EngineParts& parts() const { return *parts_; }

 private:
  std::shared_ptr<EngineParts> parts_;
};

/// What a store is opened for.
enum class Stay {
  lasting,   ///< to work with it: it is checked first, and locks are waited for as long as it takes
  thorough,  ///< for one command that recovers: checked too, but gives up after ten seconds if
             ///< another process keeps it waiting
  brief,     ///< for one command that must be quick: only what cannot wait is looked at
};

/// Opens a store by its address, creating it if it is not there:
///
///     sqlite:work.db                          a file (its side files are in work.db.holdfast/)
///     sqlite:work.db?durability=crash-safe    faster; a power cut may take the last moments
///     postgres://user@host/database           tables in the schema `holdfast` of a database
///     postgres://user@host/database?schema=x  or in another
///     postgres:host=/run/postgresql dbname=x  in the words of libpq
///     redis://host:6379                       a Redis server; docs/redis.md has all its forms
///
/// The first process to open a store checks it, and mends what a crash or a bad disk did to it; the
/// others wait for that. A store that may not be changed, by us or by anybody, is opened read-only:
/// see `Engine::run_level`.
///
/// Throws `ConfigError` for an address or settings that make no sense, `StoreUnusable` for a file
/// that is not a store or needs a person, and `StoreError` where the store cannot be reached.
Engine open(std::string_view address, Settings settings = {}, Stay stay = Stay::lasting);

/// Throws the `ConfigError` that `open` would for such an address. Opens and asks nothing. Returns
/// the address as it may be shown, without secrets.
std::string check_address(std::string_view address);

/// Writes what happens in `engine` to standard error, one line an event, from `least` upwards.
void log_to_stderr(const Engine& engine, Severity least = Severity::info);

}  // namespace holdfast
