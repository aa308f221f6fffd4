#pragma once

#include <memory>
#include <string>

#include <holdfast/blobs.hpp>

#include "recovery/private_files.hpp"

namespace holdfast::filesystem {

/// Blobs as files of a folder, which are their content and nothing else. Beside each is a side file
/// with its size and checksum.
std::shared_ptr<BlobStore> open_blob_directory(const std::string& folder,
                                               FilesFor whom = FilesFor::owner);

}  // namespace holdfast::filesystem
