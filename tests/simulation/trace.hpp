#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace holdfast::sim {

/// What happened in a history, a line each. Names tasks and workers by their order, not by their
/// ids, so that the same seed gives the same text.
class Trace {
 public:
  explicit Trace(bool aloud) : aloud_{aloud} {}

  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    if (!aloud_) return;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  const std::string& text() const { return text_; }
  std::uint64_t hash() const {
    std::uint64_t mixed = 0xcbf29ce484222325U;
    for (char c : text_) mixed = (mixed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return mixed;
  }

 private:
  bool aloud_;
  std::string text_;
};

}  // namespace holdfast::sim
