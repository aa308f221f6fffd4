#pragma once

#include <vector>

#include <curl/curl.h>

namespace holdfast::http {

/// Handles of libcurl that are not in use: making one takes longer than many a request.
class SpareHandles {
 public:
  SpareHandles() = default;
  ~SpareHandles();
  SpareHandles(const SpareHandles&) = delete;
  SpareHandles& operator=(const SpareHandles&) = delete;
  CURL* take();
  void give(CURL* handle);

 private:
  std::vector<CURL*> spare_;
};

}  // namespace holdfast::http
