#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/payload.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// What is done about times at which nobody was there to enqueue. A time that is less than a minute
/// ago is not missed, it is late.
enum class MissedRuns : std::uint8_t {
  skip,  ///< nothing
  once,  ///< one task for all of them together
  all,   ///< a task for each, the oldest first, but for no more than the last thousand
};
std::string_view to_string(MissedRuns missed);
std::optional<MissedRuns> parse_missed_runs(std::string_view text);

/// Enqueues a task again and again, at the times that its cron text names.
struct Schedule {
  std::string name;  ///< a-z, 0-9 and '-', at most 40 of them
  /// Five fields: minute, hour, day of the month, month, day of the week. Each is `*` or a list of
  /// numbers, names (`jan`, `mon`) and ranges, with steps: `*/15 9-17 * * mon-fri`. If both days
  /// are restricted, either will do. Or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
  std::string cron;
  /// Where the clock hangs that `cron` is about: a name of the IANA database, `Europe/Berlin`.
  /// A time that the clock skips counts as the moment after the gap; one that it shows twice counts
  /// the first time. Only schedules of every hour (hour `*`) go by the time that really passes.
  std::string zone = "UTC";
  /// What is enqueued. Its tag `schedule-NAME` and its id, which is made of name and time, are
  /// added. A unique key keeps a run from being enqueued while the one before it is unfinished.
  NewTask task;
  MissedRuns missed = MissedRuns::once;

  bool paused = false;
  std::optional<WallTime> next{};        ///< set by `Schedules`; the past means: now
  std::optional<WallTime> last_fired{};  ///< the time that the last task is for
  std::int64_t revision = 0;             ///< grows with every change
};

/// The time that a task of a schedule is for, whenever it was enqueued.
WallTime scheduled_time(TaskId task);

/// The schedules of a store. Every worker looks after all of them; each time is fired by exactly
/// one, in one atomic step that inserts the task and moves the schedule on.
///
///     Schedules schedules{engine};
///     schedules.add({.name = "nightly", .cron = "0 3 * * *", .zone = "Europe/Berlin",
///                    .task = {"clean_up", to_payload(CleanUp{.days = 30})}});
class Schedules {
 public:
  explicit Schedules(Engine engine) : engine_{std::move(engine)} {}

  enum class Added { created, changed, as_it_was };
  /// Adds a schedule, or changes the one of that name. Safe to call at every start of a program: a
  /// schedule that is the same already keeps its next time. A change keeps it paused if it is, and
  /// counts from now. Throws `InvalidRequest` if it makes no sense or would never fire.
  Added add(Schedule schedule);
  std::vector<Schedule> list() const;
  /// False: there is none of that name, here and below.
  bool pause(const std::string& name);
  /// Times that passed while it was paused were not missed: it goes on with the next one.
  bool resume(const std::string& name);
  /// Tasks that it has enqueued stay.
  bool remove(const std::string& name);

 private:
  bool set_paused(const std::string& name, bool paused);

  Engine engine_;
};

/// Throws `InvalidRequest` if the schedule makes no sense. `Schedules::add` does it too.
void validate(const Schedule& schedule, const Settings& settings);

}  // namespace holdfast
