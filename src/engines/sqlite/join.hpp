#pragma once

#include "engines/sqlite/start_up.hpp"

namespace holdfast::sqlite {

/// What is left of ten seconds for a check after everything else at a start.
inline constexpr Millis check_limit{8'000};

/// Opens the database where others have it open: it is ready. It may not be checked, though, if
/// nobody who is there to stay has opened it so far. Throws `StoreUnusable` if it is damaged.
void join(const std::string& path, const Settings& settings, Stay stay, Opened& opened);

/// All that is known of why a store is read-only, where nobody looked for more.
StartUp trouble_of(const std::string& reason);

}  // namespace holdfast::sqlite
