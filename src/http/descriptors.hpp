#pragma once

namespace holdfast::http {

/// Every connection is a descriptor, and the usual limit is for programs with few.
void allow_many_descriptors();

}  // namespace holdfast::http
