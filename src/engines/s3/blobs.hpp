#pragma once

#include <memory>
#include <string_view>

#include <holdfast/blobs.hpp>

namespace holdfast::s3 {

/// `s3://` and `s3+http://`: see docs/blobs.md.
bool is_address(std::string_view address);

/// Blobs in a bucket of S3 or what speaks like it, one object each, as they are.
std::shared_ptr<BlobStore> open_blobs(std::string_view address);

}  // namespace holdfast::s3
