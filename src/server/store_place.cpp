#include "server/store_place.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::server {

namespace {

constexpr Millis between_tries{2'000};
/// The other stores are not kept waiting longer for one that does not answer.
constexpr Millis longest_first_try{5'000};

/// Nothing that comes later by itself makes these right.
bool needs_a_person(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ConfigError&) {
    return true;
  } catch (const StoreUnusable&) {
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

StoreToServe at_hand(Engine engine, std::shared_ptr<BlobStore> output) {
  const auto name = engine.name();
  auto broker = [engine] { return open_broker(engine); };
  return {name, [opened = OpenedStore{std::move(engine), std::move(output), false, broker}] {
            return opened;
          }};
}

StorePlace::StorePlace(std::string id, StoreToServe wanted, std::optional<TraceOptions> tracing)
    : id_{std::move(id)},
      wanted_{std::move(wanted)},
      tracing_{std::move(tracing)},
      began_{system_clock().steady()},
      thread_{[this](std::stop_token stop) { run(std::move(stop)); }} {}

void StorePlace::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::unique_ptr<WatchedStore> store;
    std::exception_ptr failure;
    std::string why;
    try {
      store = std::make_unique<WatchedStore>(wanted_.open(), hub_, tracing_);
    } catch (const std::exception& error) {
      failure = std::current_exception();
      why = error.what();
    }
    std::unique_lock lock{mutex_};
    store_ = std::move(store);
    failure_ = why;
    if (!tried_) first_failure_ = failure;
    tried_ = true;
    changed_.notify_all();
    if (store_) return;
    changed_.wait_for(lock, stop, between_tries, [] { return false; });
    began_ = system_clock().steady();
  }
}

void StorePlace::wait_for_first_try() {
  std::unique_lock lock{mutex_};
  auto tried = [&] { return tried_; };
  if (wanted_.may_be_away)
    changed_.wait_for(lock, longest_first_try, tried);
  else
    changed_.wait(lock, tried);
  if (first_failure_ && (!wanted_.may_be_away || needs_a_person(first_failure_)))
    std::rethrow_exception(first_failure_);
}

WatchedStore* StorePlace::store() const {
  std::lock_guard lock{mutex_};
  return store_.get();
}

std::string StorePlace::name() const {
  const auto* opened = store();
  return opened ? opened->engine.name() : wanted_.name;
}

std::string StorePlace::why_empty() const {
  std::lock_guard lock{mutex_};
  if (!failure_.empty())
    return fmt::format("{} could not be opened yet: {}", wanted_.name, failure_);
  const auto since = system_clock().steady() - began_;
  return fmt::format("{} has not answered for {}", wanted_.name, duration_text(since));
}

Reach::Found StorePlace::found() const {
  if (const auto* opened = store()) return opened->reach.found();
  return {.silent = true, .trouble = why_empty()};
}

std::string StorePlace::trouble() const {
  const auto* opened = store();
  const auto found = this->found();
  return found.trouble.empty() && opened ? opened->watcher.trouble() : found.trouble;
}

}  // namespace holdfast::server
