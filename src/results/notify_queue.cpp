#include "results/notify_queue.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "tasks/names.hpp"

namespace holdfast::results {

namespace {

/// Of Holdfast (dead letters among them), of transactions, and of RabbitMQ itself.
constexpr std::array<std::string_view, 4> reserved{"holdfast.", "holdfast-", "transaction-",
                                                   "amq."};

bool is_reserved(std::string_view queue) {
  return std::ranges::any_of(reserved, [&](auto begin) { return queue.starts_with(begin); });
}

bool is_allowed(const std::string& queue, const Options& options) {
  if (queue == options.notify_queue) return true;
  // A prefix may cover them, and a notice there would be read as something else.
  if (queue == options.request_queue || queue == options.intake_queue) return false;
  return std::ranges::count(options.notify_queues, queue) > 0 ||
         std::ranges::any_of(options.notify_prefixes,
                             [&](const auto& prefix) { return queue.starts_with(prefix); });
}

void check_not_reserved(const char* what, const std::string& name) {
  if (is_reserved(name))
    throw ConfigError{fmt::format(
        "the {} '{}' is reserved; queues of results cannot begin with holdfast., holdfast-, "
        "transaction- or amq.",
        what, name)};
}

/// A notice in one of these would be read as a request.
void check_not_of_requests(const char* what, const std::string& queue, const Options& options) {
  if (queue.empty()) return;
  for (const auto& [role, taken] : {std::pair{"request queue", &options.request_queue},
                                    std::pair{"intake queue", &options.intake_queue}})
    if (queue == *taken)
      throw ConfigError{
          fmt::format("the {} '{}' is also the {}; name another one", what, queue, role)};
}

void check_told(const char* what, const std::string& queue, const Options& options) {
  check_not_reserved(what, queue);
  check_not_of_requests(what, queue, options);
}

}  // namespace

std::string notify_queue_of(const std::string& request_json, const Options& options) {
  const auto request = parse_json(request_json);
  const auto* object = request.if_object();
  const auto* named = object ? object->if_contains("notifyQueue") : nullptr;
  if (!named || named->is_null()) return options.notify_queue;
  if (!named->is_string()) throw InvalidRequest{"'notifyQueue' is not a text"};
  const std::string queue{named->get_string()};
  check_name("notifyQueue", queue, longest_name);
  if (is_reserved(queue))
    throw InvalidRequest{fmt::format("notifyQueue '{}' is a reserved queue", queue)};
  if (!is_allowed(queue, options))
    throw InvalidRequest{fmt::format(
        "notifyQueue '{}' is not allowed; 'holdfast results run' allows it with --notify-queue or "
        "--notify-prefix",
        queue)};
  return queue;
}

void check_queues(const Options& options) {
  check_not_reserved("request queue", options.request_queue);
  check_not_reserved("intake queue", options.intake_queue);
  if (options.intake_queue == options.request_queue)
    throw ConfigError{fmt::format(
        "the intake queue '{}' is also the request queue; name another one", options.intake_queue)};
  check_told("notify queue", options.notify_queue, options);
  check_told("failure queue", options.failure_queue, options);
  for (const auto& queue : options.notify_queues) {
    if (queue.empty()) throw ConfigError{"a notify queue has no name"};
    check_told("notify queue", queue, options);
  }
  for (const auto& prefix : options.notify_prefixes) {
    if (prefix.empty())
      throw ConfigError{
          "a notify prefix is empty, and would allow every queue; name its beginning"};
    check_not_reserved("notify prefix", prefix);
  }
}

}  // namespace holdfast::results
