#include "engines/s3/blobs.hpp"

#include "engines/s3/target.hpp"

namespace holdfast::s3 {

bool is_address(std::string_view address) {
  return address.starts_with("s3://") || address.starts_with("s3+http://");
}

std::shared_ptr<BlobStore> open_blobs(std::string_view address) {
  auto target = parse(address);
  auto service = std::make_shared<ObjectService>(target.bucket, target.place);
  return objects::open_object_store(target.place, target.server, service);
}

}  // namespace holdfast::s3
