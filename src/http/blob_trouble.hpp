#pragma once

#include <holdfast/blobs.hpp>

namespace holdfast::http {

/// Whether waiting helps: not where the service refuses, nor against damage.
bool is_passing(const BlobError& error);

}  // namespace holdfast::http
