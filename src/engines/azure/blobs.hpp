#pragma once

#include <memory>
#include <string_view>

#include <holdfast/blobs.hpp>

namespace holdfast::azure {

/// `azure://`, `azure+http://`, `https://` and `http://`: see docs/blobs.md.
bool is_address(std::string_view address);

/// Blobs in a container of Azure's, one blob each, as they are.
std::shared_ptr<BlobStore> open_blobs(std::string_view address);

}  // namespace holdfast::azure
