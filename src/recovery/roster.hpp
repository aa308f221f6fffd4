#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recovery/board.hpp"
#include "recovery/worker_registry.hpp"

/// What registries of workers have in common, whatever store they are in. An engine reads its rows
/// and fetches the proof; what follows from them is said here.
namespace holdfast {

/// "unknown" if the system does not say.
std::string host_name();
/// The boot in a `clock_domain()`, which names the time namespace too.
std::string boot_of(std::string_view clock_domain);
/// Whether these are two different boots. False where one of them is not known.
bool restarted_between(std::string_view boot, std::string_view other);

/// What a worker says about itself, as a store keeps it.
std::string profile_json(const WorkerProfile& profile);
/// Leaves alone what the text does not say.
void read_profile(std::string_view text, WorkerStatus& status);

/// Ids as a JSON array, and back: what is not an id is left out.
std::string ids_json(std::span<const TaskId> ids);
std::vector<TaskId> ids_from_json(std::string_view text);

/// What can be known about a worker beside its age.
struct Proof {
  enum class Of { life, death, nothing };
  Of of = Of::nothing;
  std::string seen{};     ///< for people: `lock held`
  std::string cause{};    ///< why it is taken for dead, or what is to be said beside its silence
  std::string witness{};  ///< what is gone; see `Sighting`
};

/// A worker as its store has it.
struct RosterRow {
  WorkerStatus status{};
  bool here = false;           ///< it runs, or ran, on this host
  std::string boot{};          ///< of its machine
  Millis lease_until{0};       ///< on the clock of leases
  Millis silent{0};            ///< since it was last heard of
  bool past_its_time = false;  ///< its lease ran out, or is `ahead`
  bool ahead = false;          ///< see `Orphan`
  bool buried = false;
  bool cleared = false;
  bool proven = false;               ///< its death, when it was buried
  std::optional<Remains> remains{};  ///< as they were when it was buried
};

/// Dead for certain, stale, or alive: by proof first, and age second. Without its remains.
Sighting judge(const RosterRow& row, const Proof& proof);

/// What a dead worker left. Who buried it may have been on its host and kept that; else `file`, its
/// board, is read if there is one on this host.
Remains remains_of(const RosterRow& row, const std::string& file);

/// An enlistment whose board is a file of this host.
class HostEnlistment : public Enlistment {
 public:
  HostEnlistment(HostFiles files, WorkerId id, const WorkerProfile& profile,
                 std::uint64_t oom_kills_before);

  WorkerId id() const override { return id_; }
  void started(int slot, const Lease& lease) override { board_.started(slot, lease); }
  void finished(int slot) override { board_.finished(slot); }
  void not_alone(bool others) override { board_.not_alone(others); }
  const HostFiles& files() const override { return files_; }

 private:
  HostFiles files_;
  WorkerId id_;
  Board board_;
};

}  // namespace holdfast
