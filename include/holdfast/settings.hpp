#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast {

/// What recovery does with a task whose worker died while running it.
enum class RecoveryAction {
  retry,    ///< back to pending; the attempt counts where the task is to blame; over the limit:
            ///< failed
  fail,     ///< becomes a dead letter
  pending,  ///< back to pending at once, nothing counted
};

/// `power_safe`: acknowledged means synced to disk. `crash_safe`: survives the death of any
/// process, but a power cut may take the last moments.
enum class Durability { power_safe, crash_safe };

/// Everything that can be set, with its default. The YAML names are in docs/configuration.md.
struct Settings {
  struct Recovery {
    RecoveryAction action = RecoveryAction::retry;
    /// Crashes charged to one task (it was running alone) before it is held with the evidence.
    int max_recovery_attempts = 3;
    /// A task that was taken back so often is, after another restart of its machine or a death that
    /// left no record, run alone; and charged when that happens to it then.
    int max_uncharged_recoveries = 3;
    bool integrity_check_on_startup = true;
  } recovery;

  struct Heartbeat {
    std::chrono::milliseconds interval{30'000};
    /// A lease lasts `interval * stale_threshold_multiplier`; so long may a worker be silent.
    int stale_threshold_multiplier = 3;
    /// How often leases are searched for expired ones. Proven deaths do not wait for this.
    std::chrono::milliseconds detection_interval{60'000};
    std::chrono::milliseconds lease() const { return interval * stale_threshold_multiplier; }
  } heartbeat;

  struct Worker {
    int concurrency = 0;   ///< handler threads; 0: one for each core
    int prefetch = 2'000;  ///< at most so many claimed ahead; so many only while tasks are quick
    std::chrono::milliseconds drain_timeout{30'000};
    /// How long a handler may go on after its stop token fired before its attempt is given up.
    std::chrono::milliseconds stop_grace{10'000};
  } worker;

  struct Retention {
    std::chrono::hours completed{24 * 7};   ///< completed and cancelled tasks are kept so long
    std::chrono::hours failed{24 * 90};     ///< dead letters
    std::int64_t max_finished = 1'000'000;  ///< finished tasks kept, all queues together
    std::int64_t max_bytes = 0;             ///< store size from which history is shed; 0: no limit
  } retention;

  struct Limits {
    std::int64_t payload_bytes = 1'000'000;
    std::int64_t result_bytes = 1'000'000;
    int log_lines_per_attempt = 1'000;
  } limits;

  Durability durability = Durability::power_safe;

  /// Throws `ConfigError` naming the first value that does not make sense.
  void validate() const;
};

/// Reads a YAML file. Unknown keys and wrong values are errors that name the line and what is
/// allowed.
Settings load_settings(const std::string& path);

/// The same from text; `name` stands for the file in messages.
Settings parse_settings(const std::string& yaml, const std::string& name);

/// A file may also name the store that it is about (`store: sqlite:work.db`), which is no setting
/// of an engine but the address that a program gives to `open`.
struct ConfigFile {
  Settings settings{};
  std::string store{};  ///< empty: not named
  int store_line = 0;   ///< where it was named
};
ConfigFile load_config(const std::string& path);
ConfigFile parse_config(const std::string& yaml, const std::string& name);

}  // namespace holdfast
