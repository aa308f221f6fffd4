#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/task.hpp>

namespace holdfast {

/// What a limit is about.
enum class LimitScope : std::uint8_t {
  queue,  ///< all tasks of a queue
  kind,   ///< all tasks of a kind, in whatever queue
  key,    ///< all tasks with a limit key (`TaskOptions::limit_key`), such as a tenant's
};
std::string_view to_string(LimitScope scope);
std::optional<LimitScope> parse_limit_scope(std::string_view text);

/// A token bucket: it holds up to `burst` tokens and is refilled evenly, `tasks` in each `period`.
/// Every claim takes a token, and a claim that is given back or taken back has spent its own.
struct Rate {
  int tasks = 1;
  Millis period{1'000};
  int burst = 0;  ///< 0: as many as `tasks`
  constexpr int capacity() const { return burst > 0 ? burst : tasks; }
  bool operator==(const Rate&) const = default;
};

/// Holds for all workers of a store together, however many processes they are: it is looked at in
/// the same atomic step that claims. A task must be within every limit that is about it.
struct Limit {
  LimitScope scope = LimitScope::queue;
  /// Of the queue, the kind or the key. `*` means each one that has no limit of its own, and each
  /// for itself: `key *` gives every tenant the same share.
  std::string name;
  /// So many may be claimed at the same time. 0: none, which stops a tenant without a trace of it
  /// in its tasks. What is running when a limit is set goes on.
  std::optional<int> max_running{};
  std::optional<Rate> rate{};
  bool operator==(const Limit&) const = default;
};
inline constexpr std::string_view each_name = "*";

/// How much of a limit is in use by one queue, kind or key.
struct LimitUse {
  LimitScope scope = LimitScope::queue;
  std::string name;  ///< never `*`
  std::int64_t running = 0;
  std::optional<std::int64_t> tokens{};  ///< left in its bucket, if the limit has a rate
};

struct LimitStatus {
  Limit limit;
  std::vector<LimitUse> uses{};  ///< by name; those that use nothing may be missing
};

/// The limits of a store. Changes hold from the next claim on.
///
///     Limits limits{engine};
///     limits.set({.scope = LimitScope::key, .name = "*", .max_running = 5});
///     tasks.enqueue("import", file, {.limit_key = "tenant-7"});
class Limits {
 public:
  explicit Limits(Engine engine) : engine_{std::move(engine)} {}

  /// Sets a limit, in place of the one with the same scope and name if there is one. Throws
  /// `InvalidRequest` if it makes no sense.
  void set(const Limit& limit);
  /// False: there was none.
  bool remove(LimitScope scope, const std::string& name);
  std::vector<LimitStatus> list() const;

 private:
  Engine engine_;
};

/// Throws `InvalidRequest` if the limit makes no sense. `Limits::set` does it too.
void validate(const Limit& limit);

}  // namespace holdfast
