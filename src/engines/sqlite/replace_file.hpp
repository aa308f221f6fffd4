#pragma once

#include <string>
#include <string_view>

#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// Where a database is built that is to take the place of another, in the side folder.
std::string fresh_database(const SideFiles& files);

/// Puts the fresh database, which is whole and has no log, in the place of the one at `path`. That
/// one is kept as `PATH.<word>-<time>`, its log beside it, and the name of it is returned. The
/// caller makes sure that nobody has either open.
///
/// A database and its log are two files, and nothing can rename two files at once. So it is written
/// down first what is going to happen: from then on `finish_replacement` gets it done.
std::string replace_database(const std::string& path, const SideFiles& files,
                             std::string_view word);

/// Finishes a replacement that was interrupted. To be called by whoever opens the store alone,
/// before anything looks at the database. True: there was one.
bool finish_replacement(const std::string& path, const SideFiles& files);

}  // namespace holdfast::sqlite
