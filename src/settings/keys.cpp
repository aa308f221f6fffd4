#include "settings/keys.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/error.hpp>

namespace holdfast {

namespace {

constexpr double day = 86'400;
constexpr double century_in_hours = 876'000;
// Above this a double no longer holds every whole number.
constexpr double largest_whole = 9'007'199'254'740'992;

template <class Value>
double to_number(const Value& value) {
  if constexpr (std::is_same_v<Value, std::chrono::milliseconds>)
    return static_cast<double>(value.count()) / 1'000;
  else if constexpr (std::is_same_v<Value, std::chrono::hours>)
    return static_cast<double>(value.count());
  else
    return static_cast<double>(value);
}

template <class Value>
Value from_number(double number) {
  if constexpr (std::is_same_v<Value, std::chrono::milliseconds>)
    return Value{std::llround(number * 1'000)};
  else if constexpr (std::is_same_v<Value, std::chrono::hours>)
    return Value{std::llround(number)};
  else
    return static_cast<Value>(number);
}

template <class Value>
constexpr KeyKind kind_of() {
  if (std::is_same_v<Value, bool>) return KeyKind::flag;
  if (std::is_same_v<Value, std::chrono::milliseconds>) return KeyKind::seconds;
  return std::is_enum_v<Value> ? KeyKind::choice : KeyKind::whole;
}

// `field` gives the place in a `Settings`; its type says what kind of value it is.
template <class Field>
Key key(std::string_view section, std::string_view name, double least, double most, Field field) {
  using Value = std::remove_reference_t<decltype(field(std::declval<Settings&>()))>;
  return {.section = section,
          .name = name,
          .kind = kind_of<Value>(),
          .least = least,
          .most = most,
          .get = [field](const Settings& settings) { return to_number(field(settings)); },
          .set = [field](Settings& settings,
                         double number) { field(settings) = from_number<Value>(number); }};
}

template <class Field>
Key choice(std::string_view section, std::string_view name, std::vector<std::string_view> choices,
           Field field) {
  Key made = key(section, name, 0, static_cast<double>(choices.size() - 1), field);
  made.choices = std::move(choices);
  return made;
}

#define FIELD(place) \
  [](auto& s) -> auto& { return s.place; }
std::vector<Key> make_keys() {
  return {
      choice("queue.recovery", "action", {"retry", "fail", "pending"}, FIELD(recovery.action)),
      key("queue.recovery", "maxRecoveryAttempts", 1, 1'000, FIELD(recovery.max_recovery_attempts)),
      key("queue.recovery", "maxUnchargedRecoveries", 1, 1'000,
          FIELD(recovery.max_uncharged_recoveries)),
      key("queue.recovery", "integrityCheckOnStartup", 0, 1,
          FIELD(recovery.integrity_check_on_startup)),
      key("queue.heartbeat", "intervalSeconds", 0.01, day, FIELD(heartbeat.interval)),
      key("queue.heartbeat", "staleThresholdMultiplier", 2, 1'000,
          FIELD(heartbeat.stale_threshold_multiplier)),
      key("queue.heartbeat", "detectionIntervalSeconds", 0.01, day,
          FIELD(heartbeat.detection_interval)),
      key("queue.worker", "concurrency", 0, 4'096, FIELD(worker.concurrency)),
      key("queue.worker", "prefetch", 1, 100'000, FIELD(worker.prefetch)),
      key("queue.worker", "drainTimeoutSeconds", 0, 7 * day, FIELD(worker.drain_timeout)),
      key("queue.worker", "stopGraceSeconds", 0, day, FIELD(worker.stop_grace)),
      key("queue.retention", "completedHours", 0, century_in_hours, FIELD(retention.completed)),
      key("queue.retention", "failedHours", 0, century_in_hours, FIELD(retention.failed)),
      key("queue.retention", "maxFinished", 0, largest_whole, FIELD(retention.max_finished)),
      key("queue.retention", "maxBytes", 0, largest_whole, FIELD(retention.max_bytes)),
      key("queue.limits", "payloadBytes", 2, 100'000'000, FIELD(limits.payload_bytes)),
      key("queue.limits", "resultBytes", 2, 100'000'000, FIELD(limits.result_bytes)),
      key("queue.limits", "logLinesPerAttempt", 0, 1'000'000, FIELD(limits.log_lines_per_attempt)),
      choice("queue", "durability", {"power-safe", "crash-safe"}, FIELD(durability)),
  };
}
#undef FIELD

}  // namespace

std::string Key::path() const { return fmt::format("{}.{}", section, name); }

std::string Key::allowed() const {
  switch (kind) {
    case KeyKind::whole:
      return fmt::format("a whole number from {:.0f} to {:.0f}", least, most);
    case KeyKind::seconds:
      return fmt::format("seconds from {} to {}, fractions too", least, most);
    case KeyKind::flag:
      return "true or false";
    case KeyKind::choice:
      return fmt::format("one of {}", fmt::join(choices, ", "));
  }
  return {};
}

bool Key::fits(double value) const {
  // Written so that a value that is not a number does not fit.
  return value >= least && value <= most &&
         (kind == KeyKind::seconds || std::trunc(value) == value);
}

std::string Key::text(const Settings& settings) const {
  const double value = get(settings);
  if (kind == KeyKind::flag) return value != 0 ? "true" : "false";
  if (kind == KeyKind::choice && fits(value))
    return std::string{choices[static_cast<std::size_t>(value)]};
  return kind == KeyKind::seconds ? fmt::format("{}", value) : fmt::format("{:.0f}", value);
}

std::span<const Key> setting_keys() {
  static const std::vector<Key> keys = make_keys();
  return keys;
}

void check_together(const Settings& settings) {
  constexpr std::int64_t smallest_store = 1'048'576;
  if (settings.retention.max_bytes != 0 && settings.retention.max_bytes < smallest_store)
    throw ConfigError{
        fmt::format("queue.retention.maxBytes is {}, which no store stays below; allowed: 0 (no "
                    "limit), or {} and more",
                    settings.retention.max_bytes, smallest_store)};
  constexpr std::chrono::hours longest_lease{24 * 7};
  if (settings.heartbeat.lease() > longest_lease)
    throw ConfigError{fmt::format(
        "queue.heartbeat: intervalSeconds times staleThresholdMultiplier is {:g} seconds, and so "
        "long would the work of a lost host wait; allowed: at most {} (a week)",
        to_number(settings.heartbeat.lease()), std::chrono::seconds{longest_lease}.count())};
}

}  // namespace holdfast
