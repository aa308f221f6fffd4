#pragma once

#include <string>

#include "engines/redis/server.hpp"

namespace holdfast::redis {

/// What a restart of the server may cost, as its own settings say.
struct Persistence {
  /// `power-safe`: appended and synced before it is acknowledged. `crash-safe`: survives the death
  /// of any process of ours; a crash of the server may take the last second. `volatile`: a restart
  /// of the server may take much more, or everything.
  std::string mode;
  std::string warning;  ///< empty: nothing to worry about

  bool operator==(const Persistence&) const = default;
};

/// Asks the server. Throws `StoreUnusable` where it would remove tasks by itself (an eviction
/// policy for all keys), and where it gives less than the address asks for.
Persistence look_at_persistence(Server& server);

}  // namespace holdfast::redis
