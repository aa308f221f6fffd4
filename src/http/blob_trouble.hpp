#pragma once

#include <holdfast/blobs.hpp>
#include <holdfast/outcome.hpp>

namespace holdfast::http {

/// Whether waiting helps: not where the service refuses, nor against damage.
bool is_passing(const BlobError& error);

/// For an attempt that could not begin without what is in a blob: it comes again, and is not
/// charged for what passes.
Outcome come_again(const BlobError& error);

}  // namespace holdfast::http
