#pragma once

#include <string>

namespace holdfast::sqlite {

/// The boot in a `clock_domain()`, which names the time namespace too.
inline std::string boot_of(const std::string& clock_domain) {
  return clock_domain.substr(0, clock_domain.find('/'));
}

}  // namespace holdfast::sqlite
