#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

/// How often the kernel's out-of-memory killer has struck on this host since it started, as the
/// kernel's statistics say; 0 where they do not.
std::uint64_t oom_kills(const std::string& statistics = "/proc/vmstat");

}  // namespace holdfast
