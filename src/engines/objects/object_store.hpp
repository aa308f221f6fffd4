#pragma once

#include <atomic>
#include <memory>

#include "engines/objects/service.hpp"

namespace holdfast::objects {

struct Place {
  std::string name;    ///< the address, for messages
  std::string root;    ///< the path of the container
  std::string prefix;  ///< of all keys; empty, or with a slash at its end
};

/// So much of a blob is in memory while it is written, unless it needs more to stay below the
/// number of blocks that services allow.
inline constexpr std::uint64_t usual_block = 8 << 20;

/// Blobs in a service that knows conditional writes.
std::shared_ptr<BlobStore> open_object_store(Place place, Server server,
                                             std::shared_ptr<Service> service);

}  // namespace holdfast::objects
