#pragma once

#include <memory>
#include <string>

#include <holdfast/blobs.hpp>

namespace holdfast::filesystem {

/// Blobs as files of a folder. Each begins with a line that has its size and checksum.
std::shared_ptr<BlobStore> open_blob_directory(const std::string& folder);

}  // namespace holdfast::filesystem
