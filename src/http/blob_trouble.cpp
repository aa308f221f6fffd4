#include "http/blob_trouble.hpp"

namespace holdfast::http {

bool is_passing(const BlobError& error) {
  return !dynamic_cast<const BlobRefused*>(&error) && !dynamic_cast<const BlobDamaged*>(&error);
}

}  // namespace holdfast::http
