#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/task.hpp>

#include "engines/redis/connection.hpp"
#include "engines/redis/keys.hpp"
#include "recovery/leases.hpp"
#include "recovery/report_head.hpp"

namespace holdfast::redis {

/// The key and the arguments of a script, one after the other.
class Arguments {
 public:
  explicit Arguments(std::string_view tag) { add(tag); }

  Arguments& add(std::string_view text) {
    encoded_.add(text);
    return *this;
  }
  Arguments& add(const char* text) { return add(std::string_view{text}); }
  template <std::integral T>
  Arguments& add(T number) {
    return add(std::to_string(number));
  }
  Arguments& add(bool yes) { return add(yes ? "1" : "0"); }
  Arguments& add(Millis time) { return add(time.count()); }
  Arguments& add(WallTime time) { return add(time.time_since_epoch().count()); }
  Arguments& add(TaskState state) { return add(static_cast<int>(state)); }
  Arguments& add(const Lease& lease) { return add(lease.id.text()).add(lease.token.value); }
  Arguments& add(const std::vector<std::string>& list);
  /// The report that a step of recovery adds itself to.
  Arguments& add(const ReportHead& report);

  const Encoded& encoded() const { return encoded_; }

 private:
  Encoded encoded_;
};

/// Tasks to insert, as new_tasks.lua takes them: those that are alike say only once what they are.
/// `have_new_ids`: those that they ask for are new, too, and no task waits for another one.
/// Returns their ids: those that they ask for, or new ones.
std::vector<TaskId> add_tasks(Arguments& arguments, std::span<const NewTask* const> tasks,
                              bool have_new_ids = false);

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

/// The parts of a text, at most `most`: the last one has the rest.
std::vector<std::string> split(std::string_view text, std::size_t most);
template <std::size_t N>
std::array<std::string_view, N> split_into(std::string_view text) {
  std::array<std::string_view, N> parts;
  for (std::size_t i = 0; i + 1 < N; ++i) {
    auto at = text.find(separator);
    parts[i] = text.substr(0, at);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
  parts[N - 1] = text;
  return parts;
}

WallTime wall_time(std::int64_t milliseconds);
std::int64_t parse_number(std::string_view text);

}  // namespace holdfast::redis
