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
  Events& events() const;
  /// The address without secrets, for messages.
  std::string name() const;

  EngineParts& parts() const { return *parts_; }

 private:
  std::shared_ptr<EngineParts> parts_;
};

/// Opens a store by its address, creating it if it is not there:
///
///     sqlite:work.db                          a file (its side files are in work.db.holdfast/)
///     sqlite:work.db?durability=crash-safe    faster; a power cut may take the last moments
///
/// Throws `ConfigError` for an address or settings that make no sense, `StoreUnusable` for a file
/// that is not a store, and `StoreError` where the store cannot be reached.
Engine open(std::string_view address, Settings settings = {});

/// Writes what happens in `engine` to standard error, one line an event, from `least` upwards.
void log_to_stderr(const Engine& engine, Severity least = Severity::info);

}  // namespace holdfast
