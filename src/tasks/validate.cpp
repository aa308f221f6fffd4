#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <holdfast/limit.hpp>
#include <holdfast/tasks.hpp>

#include "recovery/plain_text.hpp"
#include "tasks/json_text.hpp"
#include "tasks/names.hpp"
#include "tasks/reserved.hpp"

namespace holdfast {

namespace {

constexpr std::size_t longest_tag = 50;
constexpr std::size_t most_tags = 20;
constexpr std::size_t most_dependencies = 1'000;
constexpr int most_attempts = 1'000;
constexpr Millis ten_years = std::chrono::hours{24 * 365 * 10};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw InvalidRequest{fmt::format(format, std::forward<Args>(args)...)};
}

bool is_control(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

void check_times(const TaskOptions& options) {
  if (options.at && options.delay != Millis{0})
    refuse("a delay and an absolute time were both given; only one of them is allowed");
  if (options.delay < Millis{0} || options.delay > ten_years)
    refuse("the delay is {} ms; 0 to {} (ten years) is allowed", options.delay.count(),
           ten_years.count());
  if (options.timeout <= Millis{0} || options.timeout > ten_years)
    refuse("the timeout is {} ms; 1 to {} (ten years) is allowed", options.timeout.count(),
           ten_years.count());
  // The years that ISO 8601 writes with four digits.
  using namespace std::chrono;
  if (options.at &&
      (*options.at < sys_days{1970y / 1 / 1} || *options.at >= sys_days{10000y / 1 / 1}))
    refuse("the time to run at is outside of the years 1970 to 9999");
}

void check_backoff(const Backoff& backoff) {
  if (backoff.first < Millis{0} || backoff.first > ten_years || backoff.longest < Millis{0} ||
      backoff.longest > ten_years)
    refuse("the back-off waits {} to {} ms; 0 to {} (ten years) is allowed", backoff.first.count(),
           backoff.longest.count(), ten_years.count());
  if (!(backoff.factor >= 1.0 && backoff.factor <= 100.0))
    refuse("the back-off grows by a factor of {}; 1 to 100 is allowed", backoff.factor);
  if (!(backoff.jitter >= 0.0 && backoff.jitter <= 1.0))
    refuse("the jitter of the back-off is {}; 0 to 1 is allowed", backoff.jitter);
}

void check_tags(const std::vector<std::string>& tags) {
  if (tags.size() > most_tags) refuse("{} tags; at most {} are allowed", tags.size(), most_tags);
  for (const auto& tag : tags) {
    bool plain = std::ranges::all_of(
        tag, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
    if (tag.empty() || tag.size() > longest_tag || !plain)
      refuse("a tag is not allowed: 1 to {} characters out of a-z, 0-9 and '-' are", longest_tag);
  }
}

void check_payload(const std::string& payload, std::int64_t most_bytes) {
  if (static_cast<std::int64_t>(payload.size()) > most_bytes)
    refuse(
        "the payload has {} bytes; at most {} are allowed (limits.payload_bytes, in a "
        "configuration file queue.limits.payloadBytes)",
        payload.size(), most_bytes);
  if (auto fault = json_fault(payload); !fault.empty())
    refuse("the payload is not valid JSON: {}", fault);
}

}  // namespace

void check_name(std::string_view what, std::string_view name, std::size_t longest) {
  if (name.empty()) refuse("the {} is empty; it needs 1 to {} characters", what, longest);
  if (name.size() > longest)
    refuse("the {} has {} bytes; at most {} are allowed", what, name.size(), longest);
  if (std::ranges::any_of(name, is_control))
    refuse("the {} contains control characters, which are not allowed", what);
  if (!is_utf8(name)) refuse("the {} is not valid UTF-8", what);
}

void validate(const NewTask& task, const Settings& settings) {
  validate_own(task, settings);
  check_not_reserved("kind", task.kind);
  check_not_reserved("queue name", task.options.queue);
  check_members("the payload", task.payload);
}

void validate_own(const NewTask& task, const Settings& settings) {
  const auto& options = task.options;
  check_name("kind", task.kind, longest_name);
  check_name("queue name", options.queue, longest_name);
  if (!options.unique_key.empty()) check_name("unique key", options.unique_key, longest_unique_key);
  if (!options.limit_key.empty()) check_name("limit key", options.limit_key, longest_name);
  if (options.limit_key == each_name)
    refuse("the limit key is '{}', which stands for every key; choose another", each_name);
  if (options.priority < highest_priority || options.priority > lowest_priority)
    refuse("the priority is {}; {} (first) to {} (last) is allowed", options.priority,
           highest_priority, lowest_priority);
  if (options.max_attempts < 1 || options.max_attempts > most_attempts)
    refuse("max attempts is {}; 1 to {} is allowed", options.max_attempts, most_attempts);
  check_times(options);
  check_backoff(options.backoff);
  check_tags(options.tags);
  if (options.after.size() > most_dependencies)
    refuse("the task waits for {} others; at most {} are allowed", options.after.size(),
           most_dependencies);
  if (options.id && options.id->is_nil()) refuse("the task id is all zeros");
  if (options.id && std::ranges::count(options.after, *options.id) > 0)
    refuse("the task waits for itself");
  check_payload(task.payload, settings.limits.payload_bytes);
}

}  // namespace holdfast
