#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/integrity.hpp>

#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// What was done about a damaged database, the gentlest that helped.
struct Repair {
  enum class How {
    nothing,    ///< nothing was wrong
    corrected,  ///< the header of the file or counts of tasks, which can only be one thing
    reindexed,  ///< the rows were sound, their indexes were made anew
    vacuumed,   ///< the same, and the pages were put in order
    rebuilt,    ///< every row was copied into a new file without using indexes
    salvaged,   ///< what could be read page by page was copied into a new file
  };
  How how = How::nothing;
  std::string kept_aside{};      ///< the damaged file, where a new one took its place
  std::vector<Damage> losses{};  ///< task by task: lost, or there in part (then it is held)
  std::vector<Damage> mended{};  ///< what was damaged and is as it was before
};
std::string_view to_string(Repair::How how);

/// Mends the database at `path`. The caller is the only one of us who has it open, has no
/// connection to it, and has copied the evidence already. All work is done on a copy; a new file
/// takes the old one's place after it was checked. Killed at any moment, it can simply be run
/// again. Throws `StoreUnusable` with the advice to restore a backup where nothing helps,
/// `StoreError` if another program has the file open, and then leaves everything as it was.
Repair repair(const std::string& path, const SideFiles& files);

}  // namespace holdfast::sqlite
