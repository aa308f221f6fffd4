#pragma once

#include <functional>
#include <stop_token>

#include <holdfast/integrity.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/side_files.hpp"

namespace holdfast::sqlite {

struct CheckLimits {
  bool full = false;               ///< indexes too, and whether tables fit to each other
  std::optional<Millis> within{};  ///< nothing: as long as it takes
  std::stop_token stop{};
};

/// Looks for damage without changing anything. A full check takes a snapshot for as long as it
/// runs; it is for start-up, when nobody writes, and for people who ask.
IntegrityResult check_integrity(Connection& db, const CheckLimits& limits);

/// What to do about damage that was found while the store is in use.
std::string advice_for(const std::vector<Damage>& damage);
/// What waits for what is written down twice, by either side: tells where the two differ.
void find_damaged_blocks(Connection& db, const std::function<void(Damage)>& tell);

/// Makes the next start-up look at everything. Where that cannot be noted it looks as usual.
void note_suspicion(const SideFiles& files, const std::string& why);

}  // namespace holdfast::sqlite
