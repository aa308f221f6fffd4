#pragma once

#include <holdfast/http/processor.hpp>

namespace holdfast::http {

/// Every connection is a descriptor, and the usual limit is for programs with few: it is raised as
/// far as it may be. Throws if that is not enough, because hosts would be blamed for it.
void allow_descriptors_for(const ProcessorOptions& options);

}  // namespace holdfast::http
