#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace holdfast {

/// While a server is away every thread says so several times a second. Once in a while is enough.
class Patient {
 public:
  /// How often the same was kept back since it was last said; nothing if it is not to be said now,
  /// because that was a moment ago.
  std::optional<int> say(const std::string& text);

 private:
  struct Said {
    std::chrono::steady_clock::time_point at;
    int kept_back = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Said> said_;
};

/// What is added to a sentence of which so many were kept back.
std::string kept_back_text(int count);

}  // namespace holdfast
