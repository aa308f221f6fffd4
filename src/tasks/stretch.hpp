#pragma once

#include <cstdint>
#include <limits>

namespace holdfast {

/// Which entries of a list that a store keeps in order are wanted: without the first `skip` of
/// them, `most` at the most.
struct Stretch {
  std::int64_t skip = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  bool is_bounded() const { return most != std::numeric_limits<std::int64_t>::max(); }
};

}  // namespace holdfast
