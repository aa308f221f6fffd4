#include "http/spare_handles.hpp"

#include <new>

namespace holdfast::http {

namespace {

constexpr std::size_t most_spare_handles = 256;

}  // namespace

SpareHandles::~SpareHandles() {
  for (auto* handle : spare_) curl_easy_cleanup(handle);
}

CURL* SpareHandles::take() {
  if (!spare_.empty()) {
    auto* handle = spare_.back();
    spare_.pop_back();
    return handle;
  }
  auto* handle = curl_easy_init();
  if (!handle) throw std::bad_alloc{};
  if (set_constants_) set_constants_(handle);
  return handle;
}

void SpareHandles::give(CURL* handle) {
  if (spare_.size() >= most_spare_handles) return curl_easy_cleanup(handle);
  if (!set_constants_) curl_easy_reset(handle);
  spare_.push_back(handle);
}

}  // namespace holdfast::http
