#include "support/server_clock.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace holdfast::test {

namespace {

/// jemalloc, which redis-server brings along, asks for the time before libfaketime is ready, and
/// that asks jemalloc for memory. With glibc's own malloc in front there is no such circle.
constexpr const char* glibc_malloc = "/usr/lib/x86_64-linux-gnu/libc_malloc_debug.so.0";
constexpr const char* faketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

}  // namespace

ServerClock::ServerClock(const std::string& folder) : file_{folder + "/clock"} {
  for (const auto* library : {glibc_malloc, faketime})
    if (!std::filesystem::exists(library))
      throw std::runtime_error{fmt::format("{} is missing: run script/setup", library)};
  set(std::chrono::seconds{0});
}

void ServerClock::set(std::chrono::seconds ahead) const {
  auto next = file_ + ".next";
  std::ofstream{next} << fmt::format("{:+}\n", ahead.count());
  ::chmod(next.c_str(), 0644);
  // The server reads the file each time that it asks what time it is.
  std::filesystem::rename(next, file_);
}

Environment ServerClock::environment() const {
  return {{"LD_PRELOAD", fmt::format("{}:{}", glibc_malloc, faketime)},
          {"FAKETIME_TIMESTAMP_FILE", file_},
          {"FAKETIME_NO_CACHE", "1"},
          {"FAKETIME_DONT_FAKE_MONOTONIC", "1"},
          {"DONT_FAKE_MONOTONIC", "1"}};
}

std::string ServerClock::words() const {
  std::string words;
  for (const auto& [name, value] : environment()) words += fmt::format("{}={} ", name, value);
  return words;
}

}  // namespace holdfast::test
