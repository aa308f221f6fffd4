#include "server/unread.hpp"

#include <utility>

namespace holdfast::server {

bool Unread::has_room(const std::string& caller) const {
  std::lock_guard lock{mutex_};
  const auto found = of_caller_.find(caller);
  return bytes_ < most_ && (found == of_caller_.end() || found->second < most_of_one_);
}

std::shared_ptr<Unread::Held> Unread::hold(const std::string& caller, std::size_t bytes) {
  return std::make_shared<Held>(*this, caller, bytes);
}

std::size_t Unread::bytes() const {
  std::lock_guard lock{mutex_};
  return bytes_;
}

Unread::Held::Held(Unread& counts, std::string caller, std::size_t bytes)
    : counts_{counts}, caller_{std::move(caller)}, bytes_{bytes} {
  std::lock_guard lock{counts_.mutex_};
  counts_.bytes_ += bytes_;
  counts_.of_caller_[caller_] += bytes_;
}

Unread::Held::~Held() {
  std::lock_guard lock{counts_.mutex_};
  counts_.bytes_ -= bytes_;
  auto& own = counts_.of_caller_[caller_];
  own -= bytes_;
  if (own == 0) counts_.of_caller_.erase(caller_);
}

}  // namespace holdfast::server
