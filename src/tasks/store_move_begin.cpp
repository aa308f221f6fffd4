#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "recovery/actors.hpp"
#include "tasks/store_move.hpp"

namespace holdfast {

void StoreMove::begin() {
  require_writable(from_);
  require_writable(to_);
  refuse_same_store();
  if (auto other = to_.transfer().note()) reopen(*other);
  if (auto before = from_.transfer().note()) {
    if (before->to != to_.name() && before->done)
      throw InvalidRequest{
          fmt::format("{} was moved to {}; move that one", from_.name(), before->to)};
    if (before->to != to_.name())
      throw InvalidRequest{fmt::format("{} is being moved to {}; run that to its end first",
                                       from_.name(), before->to)};
    note_ = std::move(*before);
    goes_on_ = true;
    return;
  }
  note_.to = to_.name();
  note_.move = ReportId::make().text();
  note_.paused = from_.admin().paused();
  from_.transfer().set_note(note_);
  refuse_same_store();
}

/// A store that was moved away can be moved into: what it had is elsewhere. Its queues are as they
/// were before that.
void StoreMove::reopen(const MoveNote& left) {
  if (!left.done)
    throw InvalidRequest{
        fmt::format("{} is being moved to {}; run that to its end first", to_.name(), left.to)};
  for (const auto& queue : to_.admin().paused())
    if (std::ranges::count(left.paused, queue) == 0)
      to_.admin().set_paused(queue, false, std::string{actors::move});
  to_.transfer().set_note({});
}

/// One store may have several addresses. What is noted in one of them is then in the other.
void StoreMove::refuse_same_store() {
  auto there = to_.transfer().note(), here = from_.transfer().note();
  if (!there || !here || there->move != here->move) return;
  if (!goes_on_ && here->move == note_.move) from_.transfer().set_note({});
  throw InvalidRequest{fmt::format("{} and {} are the same store", from_.name(), to_.name())};
}

void StoreMove::heed_objection() {
  auto why = options_.objection ? options_.objection() : std::string{};
  if (why.empty()) return;
  if (!goes_on_) undo();
  throw InvalidRequest{why};
}

void StoreMove::undo() {
  for (const auto& queue : from_.admin().paused())
    if (std::ranges::count(note_.paused, queue) == 0)
      from_.admin().set_paused(queue, false, std::string{actors::move});
  from_.transfer().set_note({});
}

void StoreMove::close() {
  note_.closed = true;
  from_.transfer().set_note(note_);
}

/// What is being enqueued may be in a queue that was not there before.
void StoreMove::pause_queues() {
  for (const auto& queue : from_.admin().queues())
    if (!queue.paused) from_.admin().set_paused(queue.queue, true, std::string{actors::move});
}

}  // namespace holdfast
