#include "engines/redis/fresh_list.hpp"

#include "engines/redis/task_record.hpp"

namespace holdfast::redis {

namespace {

constexpr std::int64_t entries_a_read = 10'000;
constexpr std::int64_t entries_of_a_look = 300;

Reply read(Store& store, const std::string& lane, std::int64_t first, std::int64_t last) {
  return store.server.call(
      {"LRANGE", store.keys.key("fresh:" + lane), std::to_string(first), std::to_string(last)});
}

/// Markers and bodies are not of that form.
bool is_id(std::string_view entry) { return TaskId::parse(entry).has_value(); }

struct Entry {
  std::string id;
  std::int64_t order = 0;
};

std::vector<Entry> entries_of(const Value& texts, std::int64_t& order) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto text = texts[i].text();
    if (text.starts_with('=')) order = parse_number(text.substr(1));
    if (is_id(text)) entries.push_back({std::string{text}, order});
  }
  return entries;
}

}  // namespace

std::vector<std::string> fresh_ids(Store& store, const std::string& lane) {
  std::vector<std::string> ids;
  // From its end, by places counted from there: what is claimed meanwhile is taken off the
  // beginning, and what is inserted only makes some come twice.
  for (std::int64_t last = -1;; last -= entries_a_read) {
    auto texts = read(store, lane, last - entries_a_read + 1, last);
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (is_id(texts[i].text())) ids.push_back(texts[i].string());
    if (texts.size() < static_cast<std::size_t>(entries_a_read)) return ids;
  }
}

std::optional<WallTime> oldest_fresh(Store& store, const std::string& lane) {
  std::int64_t order = 0;
  for (std::int64_t first = 0;; first += entries_of_a_look) {
    auto texts = read(store, lane, first, first + entries_of_a_look - 1);
    if (texts.size() == 0) return {};
    auto entries = entries_of(texts, order);
    std::vector<std::string> ids;
    for (const auto& entry : entries) ids.push_back(entry.id);
    if (ids.empty()) continue;
    auto rows = store.server.call(read_rows(store, ids));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto row = parse_row(rows[i]);
      auto since = wall_time(entries[i].order % one_priority);
      if (row && row->state == TaskState::pending && row->created_at == since) return since;
    }
  }
}

}  // namespace holdfast::redis
