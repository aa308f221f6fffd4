#pragma once

#include <string>
#include <vector>

#include <holdfast/diagnosis.hpp>

#include "engines/sqlite/side_files.hpp"
#include "holdfast/task.hpp"

namespace holdfast::sqlite {

/// Copies the database, its log and its shared memory as they are into a folder of their own,
/// before anything is done about damage, and returns that folder. What was copied before and has
/// not changed since is not copied again. A few such copies are kept. A database that is too large
/// for the room there is is left out; its log is what would be lost.
///
/// The caller makes sure that nobody has the database open, or asks for the log only. Throws
/// `StoreError` if it cannot be done.
enum class Evidence { everything, log };
std::string copy_evidence(const std::string& database, const SideFiles& files, WallTime now,
                          const std::string& why, Evidence what = Evidence::everything);

/// What there is of it, oldest first.
std::vector<KeptFile> list_evidence(const SideFiles& files);

}  // namespace holdfast::sqlite
