#include "engines/azure/blobs.hpp"

#include "engines/azure/target.hpp"

namespace holdfast::azure {

bool is_address(std::string_view address) {
  for (std::string_view scheme : {"azure://", "azure+http://", "https://", "http://"})
    if (address.starts_with(scheme)) return true;
  return false;
}

std::shared_ptr<BlobStore> open_blobs(std::string_view address) {
  auto target = parse(address);
  auto service = std::make_shared<BlobService>(target.account, target.place.root);
  return objects::open_object_store(target.place, target.server, service);
}

}  // namespace holdfast::azure
