#include "server/page.hpp"

#include <algorithm>
#include <charconv>

#include "documents/json.hpp"
#include "documents/redact.hpp"
#include "server/problem.hpp"

namespace holdfast::server {

bool Page::add(std::string document) {
  if (is_full()) return false;
  if (!entries_.empty() && bytes_ + document.size() > most_bytes_) {
    bytes_ = most_bytes_;
    return false;
  }
  bytes_ += document.size();
  entries_.push_back(std::move(document));
  return true;
}

int Page::room() const { return is_full() ? 0 : static_cast<int>(most_entries_ - entries_.size()); }

std::string Page::list() const { return json_list(entries_); }

std::int64_t offset_of(const std::string& cursor) {
  if (cursor.empty()) return 0;
  std::int64_t offset = 0;
  const char* end = cursor.data() + cursor.size();
  const auto read = std::from_chars(cursor.data(), end, offset);
  if (read.ec != std::errc{} || read.ptr != end || offset < 0)
    throw invalid("the cursor is not one of ours; leave it out to begin again");
  return offset;
}

std::string cursor_json(const std::optional<std::string>& cursor) {
  return cursor ? json_string(*cursor) : std::string{};
}

ShownValue shown_value(std::string_view json, std::size_t whole_bytes) {
  auto shown = redact_json(json);
  if (json.size() >= whole_bytes) return {std::move(shown.text), {}, shown.hidden};
  return {{}, json_string(shown.text), shown.hidden};
}

}  // namespace holdfast::server
