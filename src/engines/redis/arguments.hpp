#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/task.hpp>

#include "engines/redis/connection.hpp"
#include "recovery/leases.hpp"
#include "recovery/report_head.hpp"

namespace holdfast::redis {

/// The key and the arguments of a script, one after the other.
class Arguments {
 public:
  explicit Arguments(std::string tag) { command_.push_back(std::move(tag)); }

  Arguments& add(std::string text) {
    command_.push_back(std::move(text));
    return *this;
  }
  template <std::integral T>
  Arguments& add(T number) {
    return add(std::to_string(number));
  }
  Arguments& add(bool yes) { return add(std::string{yes ? "1" : "0"}); }
  Arguments& add(Millis time) { return add(time.count()); }
  Arguments& add(WallTime time) { return add(time.time_since_epoch().count()); }
  Arguments& add(TaskState state) { return add(static_cast<int>(state)); }
  Arguments& add(const Lease& lease) { return add(lease.id.text()).add(lease.token.value); }
  Arguments& add(const std::vector<std::string>& list);
  /// With the id that the task asks for, or a new one.
  Arguments& add(const NewTask& task);
  /// The report that a step of recovery adds itself to.
  Arguments& add(const ReportHead& report);

  const Command& command() const { return command_; }

 private:
  Command command_;
};

/// What of a task is written once and read as a whole; the payload is the last part, so that the
/// beginning is enough for those who do not need it.
struct Body {
  int max_attempts = 0;
  Millis timeout{0};
  Backoff backoff{};
  std::string tags{};  ///< JSON; empty if there are none
  std::string payload{};
};
std::string body_text(const NewTask& task);
Body parse_body(std::string_view text);

/// Queue, kind and limit key of a task in one text.
struct Lane {
  std::string queue;
  std::string kind;
  std::string key;
};
std::string lane_text(const NewTask& task);
Lane parse_lane(std::string_view lane);

std::string json_list(const std::vector<std::string>& texts);
std::vector<std::string> parse_json_list(std::string_view text);
std::string ids_json(std::span<const TaskId> ids);
std::vector<TaskId> parse_ids(std::string_view text);

/// The parts of a text, at most `most`: the last one has the rest.
std::vector<std::string> split(std::string_view text, std::size_t most);

WallTime wall_time(std::int64_t milliseconds);
std::int64_t parse_number(std::string_view text);

}  // namespace holdfast::redis
