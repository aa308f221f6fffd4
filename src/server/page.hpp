#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/query.hpp"

namespace holdfast::server {

/// The entries of one answer have so many bytes together, and one more entry at the most. Where
/// there are more, the answer has a cursor.
inline constexpr std::size_t most_page_bytes = 1024 * 1024;
/// Values of an entry that are longer are cut in lists; a route of its own has the whole entry.
inline constexpr std::size_t longest_value = 16 * 1024;
/// So many entries with large values are read from a store at once.
inline constexpr int entries_at_once = 16;

/// The entries of an answer, as JSON. Not for several threads.
class Page {
 public:
  explicit Page(std::size_t most_entries, std::size_t most_bytes = most_page_bytes)
      : most_entries_{most_entries}, most_bytes_{most_bytes} {}

  /// False: the page is full, and this one is not on it. The first one always fits.
  bool add(std::string document);
  bool is_full() const { return entries_.size() >= most_entries_ || bytes_ >= most_bytes_; }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// How many more may be asked for.
  int room() const;
  /// `[{...},{...}]`
  std::string list() const;

 private:
  std::vector<std::string> entries_{};
  std::size_t bytes_ = 0;
  std::size_t most_entries_;
  std::size_t most_bytes_;
};

/// A cursor that is a number: how many entries come before. Throws `Problem` if it is not one of
/// ours.
std::int64_t offset_of(const std::string& cursor);
/// The cursor as JSON; nothing: there is no more.
std::string cursor_json(const std::optional<std::string>& cursor);

/// A page of a list that is in memory.
struct Listed {
  std::string entries{};              ///< JSON
  std::optional<std::string> next{};  ///< the cursor of the next page
};
/// Begins where the `cursor` of the request says, and has `limit` entries at the most: `usual` if
/// the request names none. `show` makes the JSON of an entry.
template <class Entries, class Show>
Listed listed(const Query& query, const Entries& entries, int usual, int most, const Show& show) {
  auto offset = static_cast<std::size_t>(offset_of(query.text("cursor")));
  Page page{static_cast<std::size_t>(query.number("limit", usual, 1, most))};
  while (offset < entries.size() && page.add(show(entries[offset]))) ++offset;
  Listed found{page.list(), {}};
  if (offset < entries.size()) found.next = std::to_string(offset);
  return found;
}

/// A value as lists show it, without credentials.
struct ShownValue {
  std::string json{};     ///< empty: it was too long
  std::string preview{};  ///< its beginning as a JSON string then
  bool hidden = false;    ///< something in it is not shown
};
/// `whole_bytes`: of the value in the store, of which `json` may be the beginning only.
ShownValue shown_value(std::string_view json, std::size_t whole_bytes);

}  // namespace holdfast::server
