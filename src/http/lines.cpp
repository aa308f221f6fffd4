#include "http/lines.hpp"

#include <algorithm>

namespace holdfast::http {

namespace {

constexpr std::size_t part_of_one = 4;

}  // namespace

Lines::Lines(std::size_t most) : most_{most}, most_of_one_{most_of_one(most)} {}

std::size_t Lines::most_of_one(std::size_t most) { return (most + part_of_one - 1) / part_of_one; }

void Lines::join(const Origin& origin, Ticket ticket) {
  lines_[origin].push_back(ticket);
  ++waiting_;
}

void Lines::leave(const Origin& origin, Ticket ticket) {
  auto at = lines_.find(origin);
  if (at == lines_.end()) return;
  auto& line = at->second;
  // Most are at one of the ends.
  auto found =
      line.back() == ticket ? std::prev(line.end()) : std::find(line.begin(), line.end(), ticket);
  if (found == line.end()) return;
  line.erase(found);
  --waiting_;
  if (line.empty()) lines_.erase(at);
}

std::optional<Ticket> Lines::first(const Origin& origin) const {
  auto at = lines_.find(origin);
  return at == lines_.end() ? std::nullopt : std::optional{at->second.front()};
}

std::optional<Ticket> Lines::last(const Origin& origin) const {
  auto at = lines_.find(origin);
  return at == lines_.end() ? std::nullopt : std::optional{at->second.back()};
}

std::vector<Ticket> Lines::everybody() const {
  std::vector<Ticket> all;
  for (const auto& [origin, line] : lines_) all.insert(all.end(), line.begin(), line.end());
  return all;
}

bool Lines::too_long(const Origin& origin) const {
  auto at = lines_.find(origin);
  return at != lines_.end() && (waiting_ > most_ || at->second.size() > most_of_one_);
}

}  // namespace holdfast::http
