#pragma once

#include <memory>
#include <string>

#include "engines/s3/service.hpp"

namespace holdfast::s3 {

/// Begins an object that is written in parts.
std::unique_ptr<objects::Upload> begin_upload(const ObjectService& service,
                                              objects::Exchange& exchange, const std::string& path,
                                              const objects::Stamp& stamp);

/// Forgets what was sent of an object. Whoever is still writing it has to begin again.
bool drop_upload(objects::Exchange& exchange, const std::string& path, const std::string& id);

}  // namespace holdfast::s3
