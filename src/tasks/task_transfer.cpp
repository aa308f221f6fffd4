#include "tasks/task_transfer.hpp"

#include <boost/json.hpp>

#include <fmt/format.h>

namespace holdfast {

namespace json = boost::json;

namespace {

constexpr std::string_view being_moved = "is being moved to ";

}  // namespace

std::string being_moved_to(std::string_view store) {
  return std::string{being_moved}.append(store);
}

bool is_being_moved(const TaskRecord& task) {
  return task.state == TaskState::held && task.cause.starts_with(being_moved);
}

std::string TaskTransfer::store_id() {
  std::lock_guard lock{mutex_};
  if (store_id_.empty()) store_id_ = keep_store_id(ReportId::make().text());
  return store_id_;
}

std::string note_text(const MoveNote& note) {
  json::object text{
      {"to", note.to}, {"move", note.move}, {"closed", note.closed}, {"done", note.done}};
  text["paused"] = json::value_from(note.paused);
  return json::serialize(text);
}

std::optional<MoveNote> parse_note(std::string_view text) {
  try {
    auto value = json::parse(json::string_view{text.data(), text.size()});
    MoveNote note;
    note.to = json::value_to<std::string>(value.at("to"));
    note.move = json::value_to<std::string>(value.at("move"));
    note.closed = value.at("closed").as_bool();
    if (auto* done = value.as_object().if_contains("done")) note.done = done->as_bool();
    note.paused = json::value_to<std::vector<std::string>>(value.at("paused"));
    return note;
  } catch (const std::exception&) {
    return {};
  }
}

void refuse_because_moved(std::string_view store, std::string_view to) {
  throw StoreMoved{fmt::format("{} was moved to {}; enqueue there", store, to)};
}

}  // namespace holdfast
