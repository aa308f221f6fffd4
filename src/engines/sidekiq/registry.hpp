#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/task.hpp>

#include "engines/redis/server.hpp"
#include "engines/sidekiq/at_hosts.hpp"
#include "engines/sidekiq/dialect.hpp"
#include "engines/sidekiq/walk.hpp"

namespace holdfast::sidekiq {

/// A request that a process holds: its id in the registry, and the number of the claim.
struct Hold {
  std::string id;
  std::string token;
};

struct TakenJob {
  Hold hold;
  std::string queue;
  std::string text;
  std::string host{};  ///< where hosts have a limit; empty: its job does not say
};

/// Something that becomes of a job: `push` to a queue, `return` to where it is taken next, `later`
/// (a set, and when), `dead`, or `forget` (a key).
struct Effect {
  std::string what;
  std::string where{};
  std::string when{};
  std::string text{};
};

struct Settling {
  Hold hold;
  std::vector<Effect> effects{};
  std::vector<std::pair<std::string, double>> totals{};
  std::optional<double> took{};  ///< seconds, where it was performed
};

struct Settled {
  bool done = false;
  std::string trouble{};  ///< why not; empty: it was not held any more
};

struct RegistryOptions {
  std::string process{};
  std::vector<std::string> queues{};
  int capacity = 0;
  Millis heartbeat_interval{0};
  Millis orphan_threshold{0};

  /// Of the gem's registry.
  std::int64_t ttl_seconds() const;
};

/// What one process has in hand, in the gem's keys and in ours. Each call is one atomic step.
class Registry {
 public:
  Registry(redis::Server& server, const Dialect& dialect, RegistryOptions options);

  /// At most `room` requests to be sent, the oldest of their queues first, and some that wait for a
  /// place at their host; others for such a host stay in their queue. A part of each queue is
  /// looked at, and the next call goes on there: see `Walk`.
  std::vector<TakenJob> take(int room, const AtHosts& in_hand = {});
  /// Queue and jid of what the last call could not read; it is in the dead set.
  using Buried = std::pair<std::string, std::string>;
  const std::vector<Buried>& buried() const { return buried_; }
  /// Queue of which nothing can be taken, or on which nothing can be put, and why.
  using Refusal = std::pair<std::string, std::string>;
  /// Of the last call.
  const std::vector<Refusal>& refusals() const { return refusals_; }
  /// Whether the last call looked at the end of every queue.
  bool saw_everything() const;
  /// Whether requests were left in a queue for want of room at their host.
  bool left_some() const;
  /// How long there is no use in looking again for those.
  Millis rests_for() const;

  std::vector<Settled> settle(std::span<const Settling> requests);
  /// The tokens of those that are not held any more.
  std::vector<std::string> beat(std::span<const Hold> holds);
  /// The durable step between "not sent" and "maybe sent". False: it is not held any more.
  std::vector<bool> begin_sending(std::span<const Hold> holds);
  /// After an answer was lost: what was taken and never heard of goes back. Returns the ids.
  std::vector<std::string> put_back_strays(std::span<const Hold> known);
  /// Requests that wait for a time that has come go on their queues. Among many thousands of other
  /// jobs that is so of those that have just become due, and of the others after several calls,
  /// each of which goes on where the last one stopped.
  struct Moved {
    std::int64_t count = 0;
    std::vector<Refusal> refusals{};
  };
  Moved move_due();
  /// For those who look: see `http::Standing`.
  void tell(const std::string& standing);
  void leave();

  const RegistryOptions& options() const { return options_; }

 private:
  redis::Reply run(const redis::Script& script, redis::Command arguments);
  void note_steps(const redis::Value& places, const std::vector<TakenJob>& jobs, Walk::Time began);

  redis::Server& server_;
  const Dialect& dialect_;
  RegistryOptions options_;
  std::vector<Walk> walks_;                   // one for each queue
  std::array<std::int64_t, 2> due_places_{};  // in the sets retry and schedule
  std::vector<Buried> buried_;
  std::vector<Refusal> refusals_;
};

void add(redis::Command& command, const Effect& effect);
/// Where a process tells of itself.
std::string standing_key(const Dialect& dialect, std::string_view process);

}  // namespace holdfast::sidekiq
