#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <holdfast/inspector.hpp>

#include "engines/sqlite/engine.hpp"
#include "engines/sqlite/side_files.hpp"
#include "faults/recording.hpp"

namespace holdfast::test {
namespace {

using testing::IsEmpty;

constexpr Millis lease_time{90'000};

/// The side files as a power cut may leave them: gone, or with nothing sensible in them. They are
/// never synced.
void tear_side_files(const std::string& database, sim::Dice& dice) {
  if (dice.percent(30)) return;
  sqlite::SideFiles files{database};
  std::vector<std::string> paths{files.write_lock(), files.wake(), files.control(),
                                 files.attempt(Workplace::id(6)), files.worker(WorkerId::make())};
  for (const auto& seen : snapshot(database, false).workers) paths.push_back(files.worker(seen));
  for (const auto& path : paths) {
    if (dice.percent(30)) continue;
    std::ofstream file{path, std::ios::binary};
    for (int left = dice.below(400); left > 0; --left) file.put(static_cast<char>(dice.below(256)));
  }
}

/// What was acknowledged before the cut and what may have been going on.
struct Promise {
  const Snapshot& kept;
  const Snapshot& next;
};

Promise promise_at(const Moment& moment) {
  auto next = std::min(moment.acknowledged + 1, workload().size());
  return {state_after(moment.acknowledged), state_after(next)};
}

bool is_final(int state) {
  return state >= static_cast<int>(TaskState::completed) &&
         state <= static_cast<int>(TaskState::cancelled);
}

void expect_kept(const Promise& promise, const Snapshot& found) {
  for (const auto& [id, was] : promise.kept.tasks) {
    auto next = promise.next.tasks.find(id);
    bool may_be_gone = next == promise.next.tasks.end();
    auto is = found.tasks.find(id);
    if (is == found.tasks.end()) {
      EXPECT_TRUE(may_be_gone) << id << " is lost";
      continue;
    }
    EXPECT_EQ(is->second.payload, was.payload);
    bool settled = is_final(was.state) && !may_be_gone && next->second.state == was.state;
    EXPECT_TRUE(!settled || is->second == was) << id << " was settled, and is not what it was";
    EXPECT_TRUE(std::ranges::includes(is->second.effects, was.effects)) << id;
  }
}

/// A machine that is started on what the power cut left.
class Restarted {
 public:
  Restarted(const Files& files, std::uint64_t seed) : dice_{seed} {
    write_files(place_.folder(), files);
    tear_side_files(place_.database(), dice_);
    // A worker without its file is known to be dead only by its silence.
    place_.clock().advance(Millis{1'000} * (workload().size() + 1) + lease_time);
  }

  void recover() {
    ASSERT_NO_THROW(place_.open());
    Inspector{place_.handle()}.recover();
  }

  void expect_recovered(const Promise& promise) {
    auto found = snapshot(place_.database(), true);
    expect_kept(promise, found);
    for (const auto& [id, task] : found.tasks)
      EXPECT_NE(task.state, static_cast<int>(TaskState::running)) << id << " is left to the dead";
  }

  /// Everything that can run does, and with the payload that it was enqueued with.
  void work_it_off() {
    if (!place_.is_open()) return;
    place_.enlist();
    place_.insert({place_.task(999)});
    place_.engine().admin().set_paused("other", false, "operator");
    place_.clock().advance(Millis{7'200'000});
    place_.engine().workers().beat(place_.worker(), {});
    while (true) {
      auto some = place_.engine().tasks().exchange({.claim = place_.claim(500)}).claimed;
      if (some.empty()) break;
      Exchange ends;
      for (const auto& one : some) {
        EXPECT_EQ(one.payload, Workplace::payload_of(one.lease.id));
        ends.settle.push_back({.lease = one.lease, .attempt = one.attempt});
      }
      for (auto settled : place_.engine().tasks().exchange(ends).settled)
        EXPECT_EQ(settled, Settled::accepted);
    }
    TaskFilter left{.states = {TaskState::pending, TaskState::running, TaskState::blocked}};
    EXPECT_THAT(place_.engine().admin().search(left, {}), IsEmpty());
  }

  Workplace& place() { return place_; }

 private:
  sim::Dice dice_;
  Workplace place_;
};

TEST(PowerBack, EngineRecoversWhateverIsLeftOfTheSideFiles) {
  auto recording = record(Durability::power_safe);
  cut_power(recording, recording.sync_points(), 7, [&](const Moment& moment, int n) {
    SCOPED_TRACE(moment.name(n));
    Restarted machine{moment.cut(n), moment.change + static_cast<std::uint64_t>(n)};
    machine.recover();
    machine.expect_recovered(promise_at(moment));
    machine.work_it_off();
  });
}

TEST(PowerBack, PowerMayGoAgainDuringRecovery) {
  auto recording = record(Durability::power_safe);
  auto places = recording.sync_points();
  // Every third, because each of them has as many moments again.
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < places.size(); i += 3) some.push_back(places[i]);
  cut_power(recording, some, 2, [&](const Moment& moment, int n) {
    SCOPED_TRACE(moment.name(n));
    auto files = moment.cut(n);
    Restarted machine{files, moment.change};
    Recording recovery;
    {
      Listening listening{[&](Change change) { recovery.changes.push_back(std::move(change)); }};
      machine.recover();
    }
    Disk disk{files};
    for (std::size_t i = 0; i < recovery.changes.size(); ++i) {
      if (recovery.changes[i].kind == Change::Kind::sync) {
        SCOPED_TRACE(fmt::format("and again before change {} of the recovery", i));
        Restarted again{Moment{disk, i}.cut(2 + static_cast<int>(i) % 5), i};
        again.recover();
        again.expect_recovered(promise_at(moment));
      }
      disk.apply(recovery.changes[i]);
    }
  });
}

}  // namespace
}  // namespace holdfast::test
