#include "server/task_search.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "recovery/clock.hpp"
#include "server/fields.hpp"
#include "server/problem.hpp"
#include "tasks/json_text.hpp"

namespace holdfast::server {

namespace {

constexpr Millis enough{250};
constexpr int at_once = 200;

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

bool payload_fits(const TaskRecord& task, const Contents& contents) {
  const auto begin = task.payload.find_first_not_of(" \n\r\t");
  if (begin == std::string::npos || !json_fault(task.payload).empty()) return false;
  const auto value = field_of(std::string_view{task.payload}.substr(begin), contents.payload_field);
  if (!value) return false;
  if (contents.payload_value.empty()) return true;
  return value->front() == '"' ? unquoted(*value) == contents.payload_value
                               : *value == contents.payload_value;
}

}  // namespace

bool fits(const TaskRecord& task, const Contents& contents) {
  if (!contents.error.empty() && !contains_text(task.error, contents.error)) return false;
  return contents.payload_field.empty() || payload_fits(task, contents);
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
  FoundPage page;
  page.next = from;
  // Tasks that came in since moved the last one further back. It is not far, or it is gone.
  bool after_last = from.last.is_nil();
  while (std::ssize(page.tasks) < limit) {
    const int size = contents.any() ? at_once : std::min(at_once, limit + 1);
    auto some = inspector.tasks(
        filter, {.limit = size, .offset = page.next.offset, .newest_first = newest_first});
    std::size_t begin = 0;
    if (!after_last) {
      const auto last = std::ranges::find(some, from.last, &TaskRecord::id);
      if (last != some.end()) begin = static_cast<std::size_t>(last - some.begin()) + 1;
      after_last = true;
    }
    page.next.offset += static_cast<int>(begin);
    for (std::size_t i = begin; i < some.size(); ++i) {
      if (std::ssize(page.tasks) == limit) {
        page.more = true;
        return page;
      }
      ++page.next.offset;
      ++page.looked_at;
      page.next.last = some[i].id;
      if (fits(some[i], contents)) page.tasks.push_back(std::move(some[i]));
    }
    if (std::ssize(some) < size) return page;
    page.more = true;
    if (system_clock().steady() >= until && std::ssize(page.tasks) < limit) {
      page.cut_off = true;
      return page;
    }
  }
  return page;
}

}  // namespace holdfast::server
