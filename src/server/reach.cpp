#include "server/reach.hpp"

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/inspector.hpp>

#include "recovery/clock.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::server {

namespace {

constexpr Millis between_looks{1'000};
/// A read of one task takes a moment, and some seconds where somebody else keeps the store busy.
constexpr Millis too_long{5'000};

}  // namespace

Reach::Reach(Engine engine)
    : engine_{std::move(engine)}, thread_{[this](std::stop_token stop) { run(std::move(stop)); }} {}

void Reach::run(std::stop_token stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    asked_ = system_clock().steady();
    lock.unlock();
    auto answer = ask();
    lock.lock();
    asked_.reset();
    last_ = std::move(answer);
    never_.wait_for(lock, stop, between_looks, [] { return false; });
  }
}

Reach::Found Reach::ask() const {
  try {
    Inspector{engine_}.task(TaskId{});
    return {};
  } catch (const StorageFailed& error) {
    return {.broken = true,
            .trouble = fmt::format("{} cannot be used any more: {}", engine_.name(), error.what())};
  } catch (const std::exception& error) {
    return {.trouble = fmt::format("{} cannot be read: {}", engine_.name(), error.what())};
  }
}

Reach::Found Reach::found() const {
  std::lock_guard lock{mutex_};
  const auto waits = asked_ ? system_clock().steady() - *asked_ : Millis{0};
  if (waits < too_long) return last_;
  return {
      .broken = last_.broken,
      .silent = true,
      .trouble = fmt::format("{} has not answered for {}", engine_.name(), duration_text(waits))};
}

}  // namespace holdfast::server
