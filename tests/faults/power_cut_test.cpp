#include <gtest/gtest.h>

#include "faults/recording.hpp"

namespace holdfast::test {
namespace {

/// What a store that was cut off holds, compared with what was acknowledged.
struct Comparison {
  std::size_t lost = 0;  ///< acknowledged steps that are gone
  std::string damage{};  ///< it is no state that was ever committed, or SQLite cannot read it
};

Comparison compare(const Files& files, std::size_t acknowledged) {
  TempStore store;
  write_files(store.folder(), files);
  Snapshot found;
  try {
    found = snapshot(store.database(), true);
  } catch (const std::runtime_error& error) {
    return {0, error.what()};
  }
  // A step that was going on may have been done, and is whole then.
  if (acknowledged < workload().size() && found == state_after(acknowledged + 1)) return {};
  for (auto kept = acknowledged + 1; kept-- > 0;)
    if (found == state_after(kept)) return {acknowledged - kept, {}};
  return {0, "no such state was committed: " + difference(state_after(acknowledged), found)};
}

/// How many cuts did harm.
struct Harm {
  int cuts = 0;
  int lossy = 0;
  int damaging = 0;
  std::string first{};  ///< in words
};

Harm harm_of(const Recording& recording, const std::vector<std::size_t>& places, int cuts) {
  Harm harm;
  cut_power(recording, places, cuts, [&](const Moment& moment, int n) {
    auto found = compare(moment.cut(n), moment.acknowledged);
    ++harm.cuts;
    if (found.lost > 0) ++harm.lossy;
    if (!found.damage.empty()) ++harm.damaging;
    if (!harm.first.empty() || (found.lost == 0 && found.damage.empty())) return;
    harm.first = moment.name(n) + ": " + std::to_string(found.lost) + " lost. " + found.damage;
  });
  return harm;
}

TEST(PowerCut, AtEverySyncPointLosesNothingThatWasAcknowledged) {
  auto recording = record(Durability::power_safe);
  auto harm = harm_of(recording, recording.sync_points(), 20);
  EXPECT_EQ(harm.lossy + harm.damaging, 0) << harm.first;
  RecordProperty("cuts", harm.cuts);
}

TEST(PowerCut, KillBetweenAnyTwoWritesLosesNothingAndShowsNothingHalf) {
  auto recording = record(Durability::power_safe);
  // Only the first way to cut: every write so far is kept, as by a kill of the process.
  auto harm = harm_of(recording, recording.all_points(), 1);
  EXPECT_EQ(harm.lossy + harm.damaging, 0) << harm.first;
  EXPECT_GT(harm.cuts, 500);
}

TEST(PowerCut, TakesTheLastMomentsOfACrashSafeStoreAndIsSeenToDoSo) {
  auto recording = record(Durability::crash_safe);
  auto harm = harm_of(recording, recording.sync_points(), 20);
  EXPECT_GT(harm.lossy, 0) << "nothing was lost although commits were not synced";
  EXPECT_EQ(harm.damaging, 0) << harm.first;
}

TEST(PowerCut, OfADiskThatOnlyPretendsToSyncIsSeenToLose) {
  auto recording = record(Durability::power_safe);
  auto places = recording.sync_points();
  for (auto& change : recording.changes)
    if (change.kind == Change::Kind::sync) change = {Change::Kind::write, change.file, 0, {}};
  auto harm = harm_of(recording, places, 7);
  EXPECT_GT(harm.lossy, 0) << "nothing was lost although nothing was synced";
}

}  // namespace
}  // namespace holdfast::test
