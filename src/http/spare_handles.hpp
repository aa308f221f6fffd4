#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <curl/curl.h>

namespace holdfast::http {

/// Handles of libcurl that are not in use: making one takes longer than many a request.
class SpareHandles {
 public:
  /// As libcurl makes them, each time.
  SpareHandles() = default;
  /// With options that `set_constants` has set once. All others are as the last user left them:
  /// whoever takes one has to set every option that it ever sets.
  explicit SpareHandles(std::function<void(CURL*)> set_constants)
      : set_constants_{std::move(set_constants)} {}
  ~SpareHandles();
  SpareHandles(const SpareHandles&) = delete;
  SpareHandles& operator=(const SpareHandles&) = delete;
  CURL* take();
  void give(CURL* handle);

 private:
  std::function<void(CURL*)> set_constants_;
  std::vector<CURL*> spare_;
};

}  // namespace holdfast::http
