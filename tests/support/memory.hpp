#pragma once

#include <sys/types.h>

#include <cstdint>

namespace holdfast::test {

/// The most memory that a process has had so far, in bytes; 0: there is no such process.
std::int64_t peak_memory(pid_t pid);

}  // namespace holdfast::test
