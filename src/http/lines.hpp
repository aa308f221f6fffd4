#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "http/job.hpp"
#include "http/url.hpp"

namespace holdfast::http {

/// Who waits for a place at which host, in order. Each of them takes up room that others could use
/// for hosts that have places. So lines are short: long enough that a place is taken again at once,
/// and whoever is beyond that should wait elsewhere.
class Lines {
 public:
  /// So many at most should wait in all lines.
  explicit Lines(std::size_t most);
  /// And so many of them in one.
  static std::size_t most_of_one(std::size_t most);

  void join(const Origin& origin, Ticket ticket);
  void leave(const Origin& origin, Ticket ticket);
  std::optional<Ticket> first(const Origin& origin) const;
  std::optional<Ticket> last(const Origin& origin) const;
  bool too_long(const Origin& origin) const;
  std::vector<Ticket> everybody() const;
  bool empty() const { return lines_.empty(); }

 private:
  std::size_t most_, most_of_one_;
  std::size_t waiting_ = 0;  ///< in all of them
  std::map<Origin, std::deque<Ticket>> lines_;
};

}  // namespace holdfast::http
