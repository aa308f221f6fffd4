#pragma once

#include <memory>
#include <string>

#include "engines/azure/service.hpp"

namespace holdfast::azure {

/// Begins a blob that is written in blocks, or goes on with one whose writer died: a block is named
/// by its number and its content, and one that is there already is not sent again.
std::unique_ptr<objects::Upload> begin_upload(const BlobService& service,
                                              objects::Exchange& exchange, const std::string& path,
                                              const objects::Stamp& stamp);

}  // namespace holdfast::azure
