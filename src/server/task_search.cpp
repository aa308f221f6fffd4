#include "server/task_search.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "documents/redact.hpp"
#include "documents/secret_names.hpp"
#include "recovery/clock.hpp"
#include "server/fields.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "tasks/json_text.hpp"

namespace holdfast::server {

namespace {

constexpr Millis enough{250};
constexpr int tasks_at_once = 200;

/// About what it has in an answer.
std::size_t bytes_of(const TaskRecord& task) {
  std::size_t bytes = 1'000 + task.payload.size() + task.result.size() + task.error.size() +
                      task.cause.size() + task.progress_text.size() + task.unique_key.size() +
                      task.limit_key.size() + 30 * task.waits_for.size();
  for (const auto& tag : task.tags) bytes += tag.size();
  return bytes;
}

bool contains_text(std::string_view text, std::string_view part) {
  return !std::ranges::search(text, part, [](char one, char other) {
            return std::tolower(static_cast<unsigned char>(one)) ==
                   std::tolower(static_cast<unsigned char>(other));
          }).empty();
}

/// The value of `customer.id`, as it was written; nothing: it is not there.
std::optional<std::string_view> field_of(std::string_view json, std::string_view path) {
  while (!path.empty()) {
    if (json.empty() || json.front() != '{') return {};
    const auto dot = std::min(path.find('.'), path.size());
    const auto name = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    const auto parts = elements(json);
    bool found = false;
    for (std::size_t i = 0; i + 1 < parts.size() && !found; i += 2)
      if (unquoted(parts[i]) == name) {
        json = parts[i + 1];
        found = true;
      }
    if (!found) return {};
  }
  return json;
}

bool payload_fits(const std::string& payload, const Contents& contents) {
  const auto begin = payload.find_first_not_of(" \n\r\t");
  if (begin == std::string::npos || !json_fault(payload).empty()) return false;
  const auto value = field_of(std::string_view{payload}.substr(begin), contents.payload_field);
  if (!value) return false;
  if (contents.payload_value.empty()) return true;
  const bool text = value->front() == '"';
  if (contents.looks_at_secret() && text) return unquoted(*value) == contents.payload_value;
  // What is hidden in it must not be found by guessing the whole.
  const auto shown = redact_json(*value).text;
  return (text ? unquoted(shown) : shown) == contents.payload_value;
}

/// Lists have the beginnings of long payloads, so those are read one by one: each may be large, and
/// there is only so much time.
bool fits(const Inspector& inspector, const TaskRecord& task, const Contents& contents) {
  // What is hidden in an error must not be found letter by letter.
  if (!contents.error.empty() && !contains_text(redact_text(task.error).text, contents.error))
    return false;
  if (contents.payload_field.empty()) return true;
  if (task.payload.size() >= task.payload_bytes) return payload_fits(task.payload, contents);
  const auto whole = inspector.task(task.id);
  return whole && payload_fits(whole->payload, contents);
}

}  // namespace

bool Contents::looks_at_secret() const {
  for (std::string_view path = payload_field; !path.empty();) {
    const auto dot = std::min(path.find('.'), path.size());
    if (is_secret_name(path.substr(0, dot))) return true;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return false;
}

std::string Cursor::text() const { return fmt::format("{}-{}", offset, last.text()); }

Cursor Cursor::parse(const std::string& text) {
  if (text.empty()) return {};
  const auto dash = text.find('-');
  Cursor cursor;
  const char* end = text.data() + std::min(dash, text.size());
  const auto read = std::from_chars(text.data(), end, cursor.offset);
  const auto last = dash == std::string::npos ? std::nullopt : TaskId::parse(text.substr(dash + 1));
  if (read.ec != std::errc{} || read.ptr != end || cursor.offset < 0 || !last)
    throw invalid("the cursor is not one of ours; leave it out to begin again");
  cursor.last = *last;
  return cursor;
}

FoundPage find_tasks(const Inspector& inspector, const TaskFilter& filter, const Contents& contents,
                     const Cursor& from, int limit, bool newest_first) {
  const auto until = system_clock().steady() + enough;
  auto time_is_up = [&] { return system_clock().steady() >= until; };
  FoundPage page;
  std::size_t bytes = 0;
  page.next = from;
  auto cut_off = [&](TaskId after) {
    page.next.last = after;
    page.more = page.cut_off = true;
    return std::move(page);
  };
  while (std::ssize(page.tasks) < limit) {
    std::optional<TaskId> stopped_at;
    TaskPage wanted{.limit = contents.any() ? tasks_at_once : std::min(tasks_at_once, limit + 1),
                    .offset = page.next.offset,
                    .newest_first = newest_first,
                    .longest_text = longest_in_lists};
    if (!page.next.last.is_nil()) wanted.after = page.next.last;
    wanted.go_on = [&](TaskId last) {
      if (!time_is_up()) return true;
      stopped_at = last;
      return false;
    };
    auto some = inspector.tasks(filter, wanted);
    page.more = true;
    for (auto& task : some) {
      if (std::ssize(page.tasks) == limit) return page;
      if (contents.any() && page.looked_at > 0 && time_is_up()) return cut_off(page.next.last);
      ++page.next.offset;
      ++page.looked_at;
      page.next.last = task.id;
      if (!fits(inspector, task, contents)) continue;
      bytes += bytes_of(task);
      page.tasks.push_back(std::move(task));
      if (bytes >= most_page_bytes) return page;
    }
    if (stopped_at) return cut_off(*stopped_at);
    page.more = std::ssize(some) == wanted.limit;
    if (!page.more) return page;
  }
  return page;
}

}  // namespace holdfast::server
