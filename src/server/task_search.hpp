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
};
bool fits(const TaskRecord& task, const Contents& contents);

/// Where the next page begins: so many tasks of the filter were looked at, and the last one was
/// this. The number alone would repeat tasks when others come in before them.
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
/// Looks for at most a quarter of a second, and a little for the query at hand.
FoundPage find_tasks(const Inspector& inspector, const TaskFilter& filter, const Contents& contents,
                     const Cursor& from, int limit, bool newest_first);

}  // namespace holdfast::server
