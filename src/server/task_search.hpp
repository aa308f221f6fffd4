#pragma once

#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast::server {

/// What is searched for beyond what stores have an index for: found by looking into every task that
/// the filter selects.
struct Contents {
  std::string error{};          ///< contained in the error, in whatever case
  std::string payload_field{};  ///< `customer.id`
  std::string payload_value{};  ///< what it is, as text; empty: it is there
  bool any() const { return !error.empty() || !payload_field.empty(); }
  /// Whether what is found tells something about a hidden field.
  bool looks_at_secret() const;
};
/// Longer payloads and results are not in lists: their beginning is, and their size.
inline constexpr std::size_t longest_in_lists = 2'000;

/// So long are tasks counted one by one.
inline constexpr Millis longest_count{40};

/// Where the next page begins: behind this task. Where that is gone by then, behind so many tasks
/// of the filter.
struct Cursor {
  int offset = 0;
  TaskId last{};

  std::string text() const;
  /// Throws `Problem` if it is not what `text` wrote.
  static Cursor parse(const std::string& text);
};

struct FoundPage {
  std::vector<TaskRecord> tasks{};
  bool more = false;
  bool cut_off = false;  ///< time was up before the page was full
  int looked_at = 0;
  Cursor next{};
};
/// Looks for at most a quarter of a second, and a little for the query or the payload at hand.
FoundPage find_tasks(const Inspector& inspector, const TaskFilter& filter, const Contents& contents,
                     const Cursor& from, int limit, bool newest_first);

}  // namespace holdfast::server
