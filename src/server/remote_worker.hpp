#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <holdfast/http/payloads.hpp>

#include "http/forget.hpp"
#include "recovery/worker_registry.hpp"
#include "server/descriptors.hpp"
#include "server/remote_workers.hpp"
#include "tasks/figures.hpp"
#include "tasks/policy.hpp"

namespace holdfast::server {

/// Which end it is; what else is said about it does not count.
struct EndKind {
  explicit EndKind(const RemoteEnd& end)
      : give_back{end.give_back}, outcome{end.give_back ? 0 : end.outcome.index()} {}
  bool operator==(const EndKind&) const = default;

  bool give_back;
  std::size_t outcome;
};

/// A worker of any language, as the server knows it: to be used with `mutex` held.
struct RemoteWorker {
  static constexpr std::size_t remembered = 1'000;

  struct Held {
    Claimed claimed;    ///< without its payload, which would be here for as long as it is worked on
    std::string blob;   ///< that its payload is kept in; empty: none
    Millis renewed{0};  ///< steady
    Millis since{0};    ///< steady
    int slot = 0;       ///< on the board
    bool cancelled = false;
    bool timed_out = false;
    Millis stops{0};  ///< steady: since when it is to stop, for one of the two
    /// Was sent to the store, which did not say what became of it.
    std::optional<EndKind> in_doubt{};

    bool is_to_stop() const { return cancelled || timed_out; }
    void look_at_clock(Millis now) {
      if (is_to_stop() || claimed.timeout <= Millis{0} || now < since + claimed.timeout) return;
      timed_out = true;
      stops = now;
    }
    void cancel(Millis now) {
      if (is_to_stop()) return;
      cancelled = true;
      stops = now;
    }
    Settlement ends(const Outcome& outcome, const Settings& settings) const {
      auto settlement = settle_for(claimed, outcome,
                                   {.cancel_requested = cancelled,
                                    .timed_out = timed_out,
                                    .result_bytes = settings.limits.result_bytes});
      if (settlement.to == TaskState::completed) forget_blob(settlement);
      return settlement;
    }
    /// Nobody needs any more what its payload was kept in.
    void forget_blob(Settlement& settlement) const {
      if (blob.empty()) return;
      settlement.follow_ups.push_back(http::forgetting(blob));
      settlement.follow_ups.back().options.id = TaskId::make();
      settlement.have_new_ids = true;
    }
  };
  struct Ended {
    Lease lease;
    EndKind end;
  };

  std::mutex mutex;                    ///< its requests, one at a time
  std::unique_ptr<WorkerSeat> seat{};  ///< its descriptors; given back after those are closed
  std::unique_ptr<Enlistment> enlistment;
  WorkerProfile profile;
  std::string credential;   ///< that enlisted it
  std::string fingerprint;  ///< of its secret
  std::map<TaskId, Held> holding;
  std::vector<int> free_slots;  ///< of the board; as many as it may hold tasks
  std::deque<Ended> settled;    ///< lately, to know a repetition
  Figures figures;              ///< told to the store with its heartbeats
  Millis seen{0};               ///< steady

  bool holds_suspect() const {
    return std::ranges::any_of(holding,
                               [](const auto& held) { return held.second.claimed.suspect; });
  }
  /// From now on it counts as begun: whoever asked for it runs it, as far as we can know.
  void take(const Claimed& claimed, Millis now) {
    drop(claimed.lease.id);  // an earlier claim, which was lost
    const int slot = free_slots.back();
    free_slots.pop_back();
    enlistment->started(slot, claimed.lease);
    Held held{.claimed = claimed,
              .blob = http::blob_of(claimed.payload, claimed.lease.id),
              .renewed = now,
              .since = now,
              .slot = slot};
    held.claimed.payload = {};
    holding.insert_or_assign(claimed.lease.id, std::move(held));
  }
  void drop(TaskId id) {
    const auto held = holding.find(id);
    if (held == holding.end()) return;
    enlistment->finished(held->second.slot);
    free_slots.push_back(held->second.slot);
    holding.erase(held);
  }
  void drop_not_renewed_since(Millis then) {
    std::vector<TaskId> late;
    for (const auto& [id, held] : holding)
      if (held.renewed < then) late.push_back(id);
    for (const auto& id : late) drop(id);
  }
  void has_settled(const Lease& lease, const EndKind& end) {
    drop(lease.id);
    settled.push_back({lease, end});
    if (settled.size() > remembered) settled.pop_front();
  }
  bool has_settled_before(const Lease& lease, const EndKind& end) const {
    return std::ranges::any_of(
        settled, [&](const auto& one) { return one.lease == lease && one.end == end; });
  }
  Held* find(const Lease& lease) {
    const auto held = holding.find(lease.id);
    return held != holding.end() && held->second.claimed.lease == lease ? &held->second : nullptr;
  }
};

}  // namespace holdfast::server
