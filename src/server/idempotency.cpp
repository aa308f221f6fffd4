#include "server/idempotency.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "recovery/clock.hpp"
#include "server/limited_enqueue.hpp"
#include "server/problem.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t longest_key = 200;
constexpr int hours_remembered = 24;

template <std::size_t bytes>
std::array<std::uint8_t, bytes> hash(const std::string& text) {
  std::array<std::uint8_t, bytes> made{};
  crypto_generichash(made.data(), made.size(), reinterpret_cast<const unsigned char*>(text.data()),
                     text.size(), nullptr, 0);
  return made;
}

/// The id of the task that a request with this key makes in this hour. The same key gives the same
/// ids, and a store takes an id once, so a repetition enqueues nothing: without a table of keys
/// that would have to be kept and be written in the same step.
TaskId id_of_key(const std::string& key, std::size_t index, std::int64_t hour) {
  TaskId id{hash<16>(fmt::format("{}\n{}\n{}", hour, index, key))};
  const auto time = static_cast<std::uint64_t>(hour) * 3'600'000;
  for (std::size_t i = 0; i < 6; ++i) id.bytes[i] = static_cast<std::uint8_t>(time >> (40 - 8 * i));
  return id;
}

/// A tag of the first task by which another request under the same key is known. A trace is no
/// part of it: each try may have its own.
constexpr std::string_view request_tag = "request-";

std::string tag_of(const std::vector<NewTask>& tasks) {
  std::string all;
  auto add = [&](const std::string& text) { all += fmt::format("{}:{}", text.size(), text); };
  for (const auto& [kind, payload, options] : tasks) {
    for (const auto* text :
         {&kind, &payload, &options.queue, &options.unique_key, &options.limit_key})
      add(*text);
    const auto at = options.at ? options.at->time_since_epoch().count() : -1;
    add(fmt::format("{} {} {} {} {}", options.priority, options.delay.count(), at,
                    options.max_attempts, options.timeout.count()));
    add(fmt::format("{} {}", options.tags.size(), options.after.size()));
    for (const auto& tag : options.tags) add(tag);
    for (const auto& id : options.after) add(id.text());
  }
  return fmt::format("{}{:02x}", request_tag, fmt::join(hash<8>(all), ""));
}

void expect_same_request(const TaskRecord& first, const std::string& tag) {
  const auto& known = first.tags;
  const bool has_one =
      std::ranges::any_of(known, [](const auto& each) { return each.starts_with(request_tag); });
  if (!has_one || std::ranges::count(known, tag) > 0) return;
  throw invalid(
      fmt::format("another request had this Idempotency-Key, with another payload, number of tasks "
                  "or option, and enqueued task {}; nothing was enqueued now",
                  first.id.text()));
}

/// The hour in which this key was used first: now, or where its first task was found.
std::int64_t hour_of_key(const Inspector& inspector, const std::string& key,
                         const std::string& tag) {
  const auto now = system_clock().wall().time_since_epoch() / std::chrono::hours{1};
  TaskFilter earlier;
  for (int ago = 0; ago <= hours_remembered; ++ago)
    earlier.ids.push_back(id_of_key(key, 0, now - ago));
  const auto found = inspector.tasks(earlier, {.limit = 1});
  if (found.empty()) return now;
  expect_same_request(found.front(), tag);
  return now - (std::ranges::find(earlier.ids, found.front().id) - earlier.ids.begin());
}

}  // namespace

void name_by_key(std::vector<NewTask>& tasks, const Inspector& inspector, std::string key,
                 const ProgramToken* token) {
  if (key.size() > longest_key)
    throw invalid(fmt::format("Idempotency-Key has {} bytes; at most {} are allowed", key.size(),
                              longest_key));
  if (token) key = key_for(key, tasks.front());
  const auto tag = tag_of(tasks);
  const auto hour = hour_of_key(inspector, key, tag);
  tasks.front().options.tags.push_back(tag);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].options.id) throw invalid("name tasks by id or by Idempotency-Key, not both");
    tasks[i].options.id = id_of_key(key, i, hour);
  }
}

}  // namespace holdfast::server
