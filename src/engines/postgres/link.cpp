#include "engines/postgres/link.hpp"

#include <algorithm>

namespace holdfast::postgres {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds first_pause{50};
constexpr milliseconds longest_pause{2'000};

}  // namespace

Connection& Link::get() {
  if (is_up()) return *connection_;
  connection_.reset();
  if (std::chrono::steady_clock::now() < not_before_) throw ConnectionLost{why_not_};
  try {
    connection_ = std::make_unique<Connection>(dialect_, durability_, purpose_);
  } catch (const StoreError& error) {
    why_not_ = error.what();
    pause_ = std::clamp(pause_ * 2, first_pause, longest_pause);
    not_before_ = std::chrono::steady_clock::now() + pause_;
    throw;
  }
  pause_ = milliseconds{0};
  return *connection_;
}

}  // namespace holdfast::postgres
