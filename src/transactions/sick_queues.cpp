#include "transactions/sick_queues.hpp"

#include <fmt/format.h>

namespace holdfast {

namespace {

/// A heartbeat carries this many, and how many more there are.
constexpr std::size_t most_told = 10;
constexpr std::size_t longest_why = 200;

}  // namespace

void SickQueues::add(const std::string& queue, const std::string& why) {
  std::lock_guard lock{mutex_};
  why_[queue] = why;
}

void SickQueues::remove(const std::string& queue) {
  std::lock_guard lock{mutex_};
  why_.erase(queue);
}

std::map<std::string, std::string> SickQueues::troubles() const {
  std::lock_guard lock{mutex_};
  std::map<std::string, std::string> told;
  for (const auto& [queue, why] : why_) {
    if (told.size() == most_told) {
      told["~ other queues"] = fmt::format("{} more cannot be read", why_.size() - most_told);
      break;
    }
    told[fmt::format("queue '{}' cannot be read", queue)] = why.substr(0, longest_why);
  }
  return told;
}

}  // namespace holdfast
