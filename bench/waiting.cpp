#include "waiting.hpp"

#include <stdexcept>
#include <thread>

namespace holdfast::bench {

void wait_until(const std::string& what, const std::function<bool()>& condition) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error{"waited 30 s in vain until " + what};
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
}

void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

}  // namespace holdfast::bench
