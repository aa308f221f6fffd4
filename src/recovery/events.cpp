#include <holdfast/events.hpp>

#include <fmt/format.h>

#include "recovery/plain_text.hpp"
#include "recovery/start_up_text.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

struct SeverityOf {
  Severity operator()(const TaskChanged& event) const {
    const auto& step = event.transition;
    if (step.to == TaskState::failed || step.to == TaskState::held) return Severity::warning;
    if (step.from == TaskState::running && step.to == TaskState::pending) return Severity::info;
    return step.to == TaskState::cancelled ? Severity::info : Severity::debug;
  }
  Severity operator()(const RecoveryStarted&) const { return Severity::debug; }
  Severity operator()(const RecoveryCompleted& event) const {
    const auto& report = event.report;
    bool damaged = report.start_up && !report.start_up->integrity.passed;
    if (damaged || report.orphans.not_taken > 0) return Severity::warning;
    return report.found_anything() ? Severity::info : Severity::debug;
  }
  Severity operator()(const MassExpiry&) const { return Severity::error; }
  Severity operator()(const IntegrityChecked& event) const {
    return event.result.passed ? Severity::info : Severity::error;
  }
  Severity operator()(const StoreRepaired& event) const {
    return event.start_up.losses.empty() ? Severity::warning : Severity::error;
  }
  Severity operator()(const WorkerEnlisted&) const { return Severity::info; }
  Severity operator()(const WorkerDied&) const { return Severity::warning; }
  Severity operator()(const WorkerCleared&) const { return Severity::info; }
  Severity operator()(const StaleWriteRefused&) const { return Severity::warning; }
  Severity operator()(const HeartbeatFailed&) const { return Severity::warning; }
  Severity operator()(const LeasesAbandoned&) const { return Severity::error; }
  Severity operator()(const StoreTrouble&) const { return Severity::error; }
  Severity operator()(const StoreWarning&) const { return Severity::warning; }
  Severity operator()(const DamageFound&) const { return Severity::error; }
  Severity operator()(const HandlerIgnoresStop&) const { return Severity::warning; }
  Severity operator()(const KindPaused&) const { return Severity::error; }
  Severity operator()(const KindResumed&) const { return Severity::info; }
  Severity operator()(const ScheduleFired&) const { return Severity::info; }
  Severity operator()(const ScheduleBroken&) const { return Severity::warning; }
  Severity operator()(const TransactionResumed&) const { return Severity::info; }
  Severity operator()(const TransactionMoved& event) const {
    return event.reason.empty() ? Severity::debug : Severity::warning;
  }
  Severity operator()(const QueueWatched& event) const {
    if (event.change == QueueWatched::Change::left) return Severity::debug;
    return event.change == QueueWatched::Change::unreadable ? Severity::warning : Severity::info;
  }
  Severity operator()(const MessageRejected&) const { return Severity::warning; }
  Severity operator()(const TransactionNoted& event) const {
    return event.trouble ? Severity::warning : Severity::info;
  }
};

std::string tasks(std::int64_t count) {
  return count == 1 ? "1 task" : fmt::format("{} tasks", count);
}

/// Of a task, or of something that only runs like one.
template <class SomeEvent>
std::string subject(const SomeEvent& event) {
  return event.name.empty() ? "task " + event.id.text() : event.name;
}

std::string start_up_text(const StartUp& start_up) {
  return fmt::format(" found {}, integrity check {}, checkpointed {} WAL frames,",
                     start_up.unclean ? "an unclean shutdown" : "a clean shutdown",
                     to_text(start_up.integrity), start_up.wal_frames_checkpointed);
}

struct TextOf {
  std::string operator()(const TaskChanged& event) const {
    const auto& step = event.transition;
    auto from = step.from ? to_string(*step.from) : std::string_view{"new"};
    auto kind = event.kind.empty() ? std::string{} : fmt::format(" ({})", event.kind);
    auto reason = step.reason.empty() ? std::string{} : ": " + step.reason;
    return fmt::format("{}{} {} -> {} by {}{}", subject(event), kind, from, to_string(step.to),
                       step.actor, reason);
  }
  std::string operator()(const RecoveryStarted& event) const {
    return fmt::format("recovery started ({})", event.trigger);
  }
  std::string operator()(const RecoveryCompleted& event) const {
    const auto& report = event.report;
    if (!report.found_anything())
      return fmt::format("recovery ({}) found nothing to do", report.trigger);
    auto missed = report.orphans.not_taken;
    auto start_up = report.start_up ? start_up_text(*report.start_up) : std::string{};
    return fmt::format("recovery ({}){} took back {} of {} dead worker{} in {}{}", report.trigger,
                       start_up, tasks(report.orphans.taken()), report.dead_workers.size(),
                       report.dead_workers.size() == 1 ? "" : "s", duration_text(report.duration),
                       missed == 0 ? "" : fmt::format("; {} could not be taken back", missed));
  }
  std::string operator()(const MassExpiry& event) const { return event.what; }
  std::string operator()(const IntegrityChecked& event) const {
    const auto& result = event.result;
    auto kind = result.full ? "full" : "quick";
    if (result.passed)
      return fmt::format("{} integrity check passed{} in {}", kind,
                         result.completed ? "" : " as far as it got",
                         duration_text(result.duration));
    if (result.damage.empty())  // it was told when it was found
      return fmt::format("{} integrity check failed, and found no more damage", kind);
    return fmt::format(
        "{} integrity check failed: {}{}; {}", kind, result.damage.front().what,
        result.damage.size() == 1 ? "" : fmt::format(" (and {} more)", result.damage.size() - 1),
        result.advice);
  }
  std::string operator()(const StoreRepaired& event) const {
    const auto& found = event.start_up;
    return fmt::format(
        "the store was damaged and is {}{}{}", found.repair.empty() ? "usable" : found.repair,
        found.losses.empty()
            ? std::string{"; nothing was lost"}
            : fmt::format("; {} losses, first: {}", found.losses.size(), found.losses.front().what),
        found.evidence.empty() ? "" : "; what it was is in " + found.evidence);
  }
  std::string operator()(const WorkerEnlisted& event) const {
    return fmt::format("worker {} started", event.id.text());
  }
  std::string operator()(const WorkerDied& event) const {
    const auto& worker = event.worker;
    return fmt::format("worker {} ({}, pid {}) is dead: {}{}{}", worker.id.text(), worker.host,
                       worker.pid, worker.cause, worker.evidence.empty() ? "" : "; ",
                       worker.evidence);
  }
  std::string operator()(const WorkerCleared& event) const {
    return fmt::format("cleared up after dead worker {}", event.id.text());
  }
  std::string operator()(const StaleWriteRefused& event) const {
    return fmt::format("refused a stale write ({}) to {}: token {} is not its token any more",
                       event.what, subject(event), event.token.value);
  }
  std::string operator()(const HeartbeatFailed& event) const {
    return fmt::format("heartbeat of worker {} failed and will be tried again: {}", event.id.text(),
                       event.why);
  }
  std::string operator()(const LeasesAbandoned& event) const {
    return fmt::format("worker {} could not renew its leases in time and stopped {}",
                       event.id.text(), tasks(static_cast<std::int64_t>(event.tasks)));
  }
  std::string operator()(const StoreTrouble& event) const {
    return fmt::format("{} failed and will be tried again: {}", event.what, event.why);
  }
  std::string operator()(const StoreWarning& event) const { return event.what; }
  std::string operator()(const DamageFound& event) const {
    return fmt::format("damage: {} It is held; see holdfast doctor", event.damage.what);
  }
  std::string operator()(const HandlerIgnoresStop& event) const {
    return fmt::format("the handler of {} ({}) goes on although it was asked to stop",
                       subject(event), event.kind);
  }
  std::string operator()(const KindPaused& event) const {
    return fmt::format(
        "worker {} cannot run tasks of kind {}: {}; it gives them back and tries one in {}",
        event.id.text(), event.kind, event.why, duration_text(event.pause));
  }
  std::string operator()(const KindResumed& event) const {
    return fmt::format("worker {} can run tasks of kind {} again", event.id.text(), event.kind);
  }
  std::string operator()(const ScheduleFired& event) const {
    return fmt::format("schedule {} enqueued task {}", event.schedule, event.task.text());
  }
  std::string operator()(const ScheduleBroken& event) const {
    return fmt::format("schedule {} is due and is left to other workers: {}", event.schedule,
                       event.why);
  }
  std::string operator()(const TransactionResumed& event) const {
    return fmt::format("transaction {} ({}) resumed in state {}", event.id, event.machine,
                       event.state);
  }
  std::string operator()(const TransactionMoved& event) const {
    return fmt::format("transaction {} ({}) {} -> {}{}{}", event.id, event.machine, event.from,
                       event.to, event.reason.empty() ? "" : ": ", event.reason);
  }
  std::string operator()(const QueueWatched& event) const {
    const auto subject = subject_of(event.id, event.machine);
    if (event.change == QueueWatched::Change::unreadable)
      return fmt::format("{}: queue '{}' cannot be read: {}", subject, event.queue, event.why);
    const bool again = event.change == QueueWatched::Change::readable;
    return fmt::format(
        "{}: queue '{}' {}", subject, event.queue,
        again ? "can be read again" : "could not be read and is not needed any more");
  }
  std::string operator()(const MessageRejected& event) const {
    return fmt::format("{}: message '{}' of queue '{}' is a dead letter: {}",
                       subject_of(event.id, event.machine), event.message, event.queue,
                       event.reason);
  }
  std::string operator()(const TransactionNoted& event) const {
    return fmt::format("{}: {}", subject_of(event.id, event.machine), event.what);
  }

 private:
  static std::string subject_of(const std::string& transaction, const std::string& machine) {
    if (transaction.empty()) return fmt::format("transactions ({})", machine);
    return fmt::format("transaction {} ({})", transaction, machine);
  }
};

}  // namespace

Severity severity(const Event& event) { return std::visit(SeverityOf{}, event); }

std::string to_text(const Event& event) { return plain(std::visit(TextOf{}, event)); }

void Events::subscribe(Subscriber subscriber) {
  std::lock_guard lock{mutex_};
  auto more = std::make_shared<std::vector<Subscriber>>(*subscribers_);
  more->push_back(std::move(subscriber));
  subscribers_ = std::move(more);
  heard_.store(true, std::memory_order_release);
}

void Events::emit(const Event& event) const {
  if (!heard()) return;
  std::shared_ptr<const std::vector<Subscriber>> subscribers;
  {
    std::lock_guard lock{mutex_};
    subscribers = subscribers_;
  }
  // Outside of the lock, so that a subscriber may emit and subscribe.
  for (const auto& subscriber : *subscribers) subscriber(event);
}

bool Events::heard() const { return heard_.load(std::memory_order_acquire); }

}  // namespace holdfast
