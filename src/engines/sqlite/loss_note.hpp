#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/integrity.hpp>

#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

/// Commits were lost and nobody has accepted that yet: nothing may be written. Kept in a file
/// beside the database, because SQLite forgets that there was more as soon as it reads what is
/// left.
struct LossNote {
  std::string about{};  ///< the file that it is about: after a restore or a repair there is another
  std::string reason{};  ///< why nothing may be written, and what to do
  std::vector<Damage> losses{};

  static std::optional<LossNote> read(const SideFiles& files);
  void write(const SideFiles& files) const;
  /// It was accepted.
  static void forget(const SideFiles& files);
};

}  // namespace holdfast::sqlite
