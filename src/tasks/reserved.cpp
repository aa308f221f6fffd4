#include "tasks/reserved.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/plain_text.hpp"
#include "tasks/json_text.hpp"

namespace holdfast {

namespace {

/// The second is for the gates of a move between stores.
constexpr std::array<std::string_view, 2> reserved_beginnings{"holdfast.", "holdfast-move-"};
constexpr std::array<std::string_view, 4> reserved_members{"$blob", "$encrypted", "$secret",
                                                           "$signed"};

}  // namespace

void check_not_reserved(std::string_view what, std::string_view name) {
  for (auto beginning : reserved_beginnings)
    if (name.starts_with(beginning))
      throw InvalidRequest{
          fmt::format("the {} is '{}'; names that begin with '{}' are reserved for Holdfast "
                      "itself, choose another",
                      what, plain(name), beginning)};
}

std::string reserved_member(std::string_view json) {
  // Most payloads have none of these characters, and are not parsed a second time.
  constexpr std::string_view escaped_dollar = "\\u0024";
  if (json.find('$') == json.npos && json.find(escaped_dollar) == json.npos) return {};
  const auto names = member_names(json);
  const auto found = std::ranges::find_first_of(names, reserved_members);
  return found == names.end() ? std::string{} : *found;
}

void check_members(std::string_view what, std::string_view json) {
  if (const auto member = reserved_member(json); !member.empty())
    throw InvalidRequest{fmt::format(
        "{} has the member '{}', which is reserved for Holdfast itself; rename it, or put it "
        "inside of another member",
        what, member)};
}

TaskId then_own(Attempt& attempt, NewTask task) {
  if (auto* own = dynamic_cast<OwnAttempt*>(&attempt)) return own->add_own(std::move(task));
  return attempt.then_json(std::move(task.kind), std::move(task.payload), std::move(task.options));
}

const std::string& queue_of(const Attempt& attempt) {
  static const std::string usual = TaskOptions{}.queue;
  const auto* own = dynamic_cast<const OwnAttempt*>(&attempt);
  return own ? own->queue() : usual;
}

void begins_later(OpenAttempt& attempt) {
  if (auto* own = dynamic_cast<OwnOpenAttempt*>(&attempt)) own->begins_later();
}

void could_not_begin(OpenAttempt& attempt, const CannotBegin& error) {
  if (auto* own = dynamic_cast<OwnOpenAttempt*>(&attempt)) return own->could_not_begin(error);
  attempt.end(retry(error.what()));
}

bool asked_to_cancel(const OpenAttempt& attempt) {
  const auto* own = dynamic_cast<const OwnOpenAttempt*>(&attempt);
  return own && own->asked_to_cancel();
}

}  // namespace holdfast
