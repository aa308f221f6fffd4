#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/ids.hpp>

namespace holdfast {

using Millis = std::chrono::milliseconds;
/// Wall-clock time with the resolution that stores keep. Leases never use it.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Millis>;

enum class TaskState : std::uint8_t {
  pending,    ///< ready, or scheduled for a later time
  running,    ///< claimed by a worker, under a lease
  completed,  ///< finished well; final
  failed,     ///< the dead letters: gave up, can be redriven by an operator
  cancelled,  ///< called off; only an operator's retry brings it back
  blocked,    ///< waits for other tasks to complete
  held,       ///< waits for an operator's word; the cause is recorded
};
inline constexpr int task_state_count = 7;

std::string_view to_string(TaskState state);
std::optional<TaskState> parse_task_state(std::string_view text);

/// How long to wait before attempt n+1 when attempt n failed: `first * factor^(n-1)`, at most
/// `longest`, then spread by plus or minus `jitter` (a fraction) so that herds do not form.
struct Backoff {
  Millis first{1'000};
  double factor = 2.0;
  Millis longest{std::chrono::hours{1}};
  double jitter = 0.2;
};

inline constexpr int highest_priority = 1;
inline constexpr int lowest_priority = 5;

/// What can be said about a task when it is enqueued. Every field has a sensible default.
struct TaskOptions {
  std::string queue = "default";
  int priority = 3;                       ///< 1 (first) to 5 (last); equal ones go by age
  Millis delay{0};                        ///< run no sooner than this from now
  std::optional<WallTime> at{};           ///< or no sooner than this time (not both)
  int max_attempts = 3;                   ///< failures after which it becomes a dead letter
  Backoff backoff{};                      ///< between failing attempts
  Millis timeout{std::chrono::hours{1}};  ///< per attempt; then its stop token fires
  /// At most one unfinished task has this key. Enqueuing a second one returns the first one's id.
  std::string unique_key{};
  /// Whose task it is, such as a tenant's: limits can be set for it. See limit.hpp.
  std::string limit_key{};
  std::vector<std::string> tags{};  ///< for people: search and filter
  std::vector<TaskId> after{};      ///< stays blocked until all of these have completed
  /// Chosen by the caller, so that an enqueue whose reply was lost can be repeated safely:
  /// same id and same payload again is fine, another payload is an error. Made up if absent.
  std::optional<TaskId> id{};
};

/// A task that is about to be enqueued.
struct NewTask {
  std::string kind;
  std::string payload;  ///< JSON text
  TaskOptions options{};
};

/// A task as it stands in the store, for people and tools.
struct TaskRecord {
  TaskId id;
  std::string kind;
  std::string queue;
  TaskState state = TaskState::pending;
  int priority = 3;
  std::string payload;  ///< JSON text
  std::vector<std::string> tags;
  std::string unique_key;
  std::string limit_key;
  std::vector<TaskId> waits_for;  ///< dependencies that have not completed yet

  int attempt = 0;  ///< attempts charged so far, the running one included
  int max_attempts = 3;
  int recoveries = 0;    ///< how often recovery took it back
  int crashes = 0;       ///< crashes charged to it (it ran alone)
  bool suspect = false;  ///< was running when a worker crashed: runs alone next
  bool cancel_requested = false;
  Token token{};

  WallTime created_at{};
  WallTime run_at{};  ///< not before
  std::optional<WallTime> claimed_at{};
  std::optional<WallTime> finished_at{};
  Millis timeout{0};
  std::optional<WorkerId> worker{};  ///< who holds it, or held it last

  std::string result;   ///< JSON text; empty if none
  std::string error;    ///< of the last failing attempt
  std::string cause;    ///< why it is held
  double progress = 0;  ///< 0 to 1, as reported by the handler
  std::string progress_text;
  std::size_t payload_bytes = 0;  ///< of the whole, where a page asked for less
  std::size_t result_bytes = 0;
};

/// One step in a task's life. The plain steps are derived from the task itself, the unusual ones
/// are recorded; `Inspector::history` shows both as one list.
struct Transition {
  std::optional<TaskState> from{};  ///< nothing: it was created
  TaskState to = TaskState::pending;
  std::string actor;  ///< `client`, `worker/<id>`, `operator`, `system/recovery`
  std::string reason;
  Token token{};  ///< of the claim that began or ended with it, or of the last one before
  int attempt = 0;
  WallTime at{};
};

struct LogLine {
  WallTime at{};
  int attempt = 0;
  std::string text;
};

}  // namespace holdfast
