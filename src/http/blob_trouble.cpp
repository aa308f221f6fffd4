#include "http/blob_trouble.hpp"

namespace holdfast::http {

namespace {

constexpr std::chrono::seconds until_blobs_are_back{5};

}  // namespace

bool is_passing(const BlobError& error) {
  return !dynamic_cast<const BlobRefused*>(&error) && !dynamic_cast<const BlobDamaged*>(&error);
}

Outcome come_again(const BlobError& error) {
  if (is_passing(error)) return snooze(until_blobs_are_back);
  return retry(error.what());
}

}  // namespace holdfast::http
