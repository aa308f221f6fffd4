#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "recovery/kill_point.hpp"
#include "recovery/time_text.hpp"
#include "recovery/transaction_notes.hpp"
#include "results/left_queues.hpp"
#include "results/look.hpp"
#include "results/lost_ledger.hpp"
#include "results/notice.hpp"
#include "results/notify_queue.hpp"
#include "results/queues.hpp"
#include "results/rounds.hpp"
#include "results/store_part.hpp"
#include "results/waiting.hpp"
#include "tasks/names.hpp"

namespace holdfast::results {

namespace {

constexpr std::string_view was_abandoned = "abandoned: ";
/// At queues that are to be removed.
constexpr Millis until_next_look{500};

WallTime wall_now() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

/// The handlers of the states. What they know of a transaction is in it, and nowhere else.
class Handlers {
 public:
  explicit Handlers(Options options) : options_{std::move(options)} {}

  Next forward_request(Transaction& transaction) const {
    try {
      notify_queue_of(transaction.input_json(), options_);
    } catch (const InvalidRequest& error) {
      return fail(error.what());
    }
    declare_queues(transaction);
    auto known = knowledge_of(transaction.data_json());
    // Unless an operator sent it back here, which is to ask again.
    if (known.asked && transaction.reason().empty()) return go(State::awaiting_results);
    known.asked = true;
    known.ended = false;
    known.silent_ms = 0;
    transaction.send(request_for(transaction, options_, known, nullptr));
    transaction.keep(known);
    return go(State::awaiting_results);
  }

  Next await(Transaction& transaction) const {
    if (transaction.memory()) return after_silence(transaction);
    auto waiting = std::make_shared<Waiting>(Tally{transaction.data_json(), ledger(transaction)},
                                             options_.abandon_after);
    transaction.memory() = waiting;
    if (waiting->tally.complete()) return go(State::sending_completion);
    return listen(waiting->slice);
  }

  Next take(Transaction& transaction, std::span<Incoming> messages) const {
    auto& waiting = *static_cast<Waiting*>(transaction.memory().get());
    auto& tally = waiting.tally;
    const bool announced = tally.known.announced;
    std::vector<LedgerEntry> entries;
    std::vector<Event> repeated;
    for (auto& message : messages) {
      try {
        auto again = take_message(transaction, tally, message.delivery(), entries);
        if (again) repeated.push_back(note(transaction, TransactionNote::ordinal_repeated, *again));
      } catch (const Malformed& error) {
        message.reject(error.what());
      }
    }
    const bool progressed = !entries.empty() || tally.known.announced != announced;
    if (progressed && std::exchange(tally.known.silent_ms, 0) > 0) transaction.keep(tally.known);
    std::vector<Event> stored;
    for (const auto& entry : entries)
      stored.push_back(note(transaction, TransactionNote::ordinal_stored, place(entry)));
    if (!entries.empty()) transaction.record(std::move(entries));
    for (const auto& event : stored) tell(event);
    for (const auto& event : repeated) tell(event);
    if (tally.complete()) return go(State::sending_completion);
    if (progressed) waiting.begin_anew();
    return listen(waiting.left());
  }

  Next ask_again(Transaction& transaction) const {
    Tally tally{transaction.data_json(), ledger(transaction)};
    if (tally.complete()) return go(State::sending_completion);
    if (++tally.known.resends > options_.max_resends)
      return fail(fmt::format("parts of it, or a queue, were gone {} times", tally.known.resends));
    declare_queues(transaction);
    tally.known.silent_ms = 0;
    transaction.send(request_for(transaction, options_, tally.known, &tally));
    transaction.keep(tally.known);
    return go(State::awaiting_results);
  }

  Next replace_queues(Transaction& transaction) const {
    auto known = knowledge_of(transaction.data_json());
    // Where successors cannot be read either, more of them are no help.
    if (known.queue_round >= options_.max_resends) return go(State::awaiting_results);
    ++known.queue_round;
    transaction.keep(known);
    return go(State::needs_resend, transaction.reason());
  }

  Next send_completion(Transaction& transaction) const {
    if (knowledge_of(transaction.data_json()).notified) return go(State::cleaning);
    auto lines = ledger(transaction);
    Tally tally{transaction.data_json(), lines};
    if (!tally.complete()) return go(State::needs_resend, "parts of it are gone");
    auto look = look_at_parts(*options_.blobs, transaction.id(), tally, lines);
    if (look.gone > 0) return reopen(transaction, look);
    transaction.send(completion_of(transaction, options_, tally, lines, wall_now()));
    tally.known.notified = true;
    transaction.keep(tally.known);
    return go(State::cleaning);
  }

  Next clean(Transaction& transaction) const {
    if (!transaction.reason().empty()) return remove_everything(transaction);
    std::optional<Tally> tally;
    std::vector<LedgerEntry> none;
    auto why_left = [&](Delivery& delivery) -> std::optional<std::string> {
      if (!tally) tally.emplace(transaction.data_json(), ledger(transaction));
      try {
        take_message(transaction, *tally, delivery, none);
        return {};
      } catch (const Malformed& error) {
        return error.what();
      }
    };
    if (!leave_queues(transaction, why_left, true)) return stay(until_next_look);
    remove_unwanted(transaction);
    return go(State::completed);
  }

 private:
  /// A slice of waiting is over.
  Next after_silence(Transaction& transaction) const {
    auto& waiting = *static_cast<Waiting*>(transaction.memory().get());
    for (const auto& queue : queues_of(transaction)) {
      const auto count = options_.broker->messages(queue);
      if (!count) return go(State::needs_resend, fmt::format("queue '{}' is gone", queue));
      if (*count == 0) continue;
      // They may be on their way to us.
      if (!std::exchange(waiting.undelivered, true)) return listen(waiting.slice);
      throw BrokerError{fmt::format("{} message{} in queue '{}' and not delivered to this instance",
                                    *count, *count == 1 ? " is" : "s are", queue)};
    }
    waiting.count_silence();
    const auto& known = waiting.tally.known;
    if (waiting.silent() >= options_.abandon_after)
      return go(State::cleaning, fmt::format("{}nothing came for {}{}", was_abandoned,
                                             duration_text(options_.abandon_after),
                                             known.announced ? "" : ", not even a header"));
    transaction.keep(known);
    return listen(waiting.slice);
  }

  Next remove_everything(Transaction& transaction) const {
    const bool first = end_round(transaction);
    const auto why = fmt::format("its result failed: {}", transaction.reason());
    try {
      if (!leave_queues(
              transaction, [&](Delivery&) { return std::optional{why}; }, false))
        return stay(until_next_look);
    } catch (const BrokerError&) {
      if (!first) throw;
      return stay(Millis{0});  // its client is told although a queue cannot be read
    }
    remove_rounds_before(*options_.blobs, transaction.id(),
                         knowledge_of(transaction.data_json()).round);
    return go(State::failed, transaction.reason());
  }

  // Before its parts go, the transaction knows that they do, and its client is told. Whoever was
  // taken for dead here and goes on removing them later, when it was retried, finds parts of
  // another round. False: that was done before.
  bool end_round(Transaction& transaction) const {
    if (knowledge_of(transaction.data_json()).ended) return false;
    const Tally tally{transaction.data_json(), ledger(transaction)};
    transaction.send(failure_of(transaction, options_, tally, wall_now()));
    transaction.keep(Knowledge{
        .round = tally.known.round + 1, .ended = true, .queue_round = tally.known.queue_round});
    transaction.forget_ledger();
    if (transaction.reason().starts_with(was_abandoned))
      tell(note(transaction, TransactionNote::abandoned,
                transaction.reason().substr(was_abandoned.size())));
    return true;
  }

  bool leave_queues(const Transaction& transaction, const WhyLeft& why, bool hurried) const {
    std::vector<std::string> kept;
    for (const auto& queue : replaced_queues_of(transaction)) {
      try {
        if (!left_.leave(*options_.broker, queue, why, hurried)) return false;
      } catch (const BrokerError& error) {
        // It was replaced because it could not be read, and still cannot: the operator decides.
        kept.push_back(error.what());
      }
    }
    for (const auto& queue : queues_of(transaction))
      if (!left_.leave(*options_.broker, queue, why, hurried)) return false;
    for (const auto& which : kept) tell(note(transaction, TransactionNote::queue_kept, which));
    return true;
  }

  void tell(const Event& event) const {
    if (options_.tell) options_.tell(event);
  }
  static Event note(const Transaction& transaction, TransactionNote note, const std::string& what) {
    return transaction_note(transaction.id(), machine_name, note, what);
  }

  /// Returns which part it was if it was there already. Throws `Malformed`.
  std::optional<std::string> take_message(Transaction& transaction, Tally& tally,
                                          Delivery& delivery,
                                          std::vector<LedgerEntry>& entries) const {
    auto read = read_message(delivery, transaction.id(), options_);
    if (auto* header = std::get_if<HeaderMessage>(&read)) {
      announce(transaction, tally, *header);
      return {};
    }
    const auto& part = std::get<PartMessage>(read);
    const auto before = entries.size();
    take_part(transaction, tally, delivery, part, entries);
    if (entries.size() > before) return {};
    return place({part.series, part.ordinal});
  }

  // In a step of its own: if it is the last one, the next holder finds that parts are missing.
  static Next reopen(Transaction& transaction, const Look& look) {
    kill_point(KillPoint::look_before_reopen);
    transaction.replace_ledger(look.there);
    kill_point(KillPoint::look_after_reopen);
    return go(State::needs_resend, look.reason());
  }

  void declare_queues(const Transaction& transaction) const {
    for (const auto& queue : queues_of(transaction)) options_.broker->declare(queue);
  }

  static void announce(Transaction& transaction, Tally& tally, const HeaderMessage& header) {
    std::map<std::string, std::int64_t> series;
    for (const auto& each : header.series) series[each.name] = each.count;
    if (tally.known.announced && series != tally.known.series)
      throw Malformed{"it contradicts the header that came first"};
    if (tally.known.announced) return;
    tally.known.announced = true;
    tally.known.series = std::move(series);
    transaction.keep(tally.known);
  }

  void take_part(Transaction& transaction, Tally& tally, Delivery& delivery,
                 const PartMessage& part, std::vector<LedgerEntry>& entries) const {
    expect(tally, part);
    auto& received = tally.received[part.series];
    if (!received.contains(part.ordinal)) {
      auto key = blob_key(transaction.id(), part.series, part.ordinal, tally.known.round);
      auto stored = store_part(*options_.blobs, delivery, part, std::move(key));
      entries.push_back({part.series, part.ordinal, to_payload(stored)});
      received.add(part.ordinal);
      return;
    }
    auto same = [&](const LedgerEntry& entry) {
      return entry.series == part.series && entry.ordinal == part.ordinal;
    };
    auto now = std::ranges::find_if(entries, same);
    auto first = now != entries.end() ? std::optional{now->value}
                                      : transaction.recorded(part.series, part.ordinal);
    if (first && part_of(*first).sha256 != sum_of(delivery, part))
      throw Malformed{fmt::format("part {} of '{}' is not the same as the one that came first",
                                  part.ordinal, part.series)};
  }

  static void expect(const Tally& tally, const PartMessage& part) {
    if (!tally.known.announced) return;
    auto announced = tally.known.series.find(part.series);
    if (announced == tally.known.series.end())
      throw Malformed{fmt::format("series '{}' was not announced", part.series)};
    if (part.ordinal > announced->second)
      throw Malformed{fmt::format("part {} of '{}' exceeds the {} that were announced",
                                  part.ordinal, part.series, announced->second)};
    if (part.total && *part.total != announced->second)
      throw Malformed{fmt::format("it says that '{}' has {} parts, and its header said {}",
                                  part.series, *part.total, announced->second)};
  }

  std::vector<LedgerEntry> ledger(Transaction& transaction) const {
    return ledger_of(transaction, *options_.blobs);
  }

  /// Blobs that the ledger does not know, unless it does not know all that it should.
  void remove_unwanted(Transaction& transaction) const {
    auto lines = ledger(transaction);
    Tally tally{transaction.data_json(), lines};
    if (!tally.complete()) return;
    std::set<std::string> wanted;
    for (const auto& entry : lines)
      if (tally.expects(entry.series, entry.ordinal)) wanted.insert(part_of(entry.value).blob);
    for (const auto& blob : options_.blobs->list(transaction.id() + "/"))
      if (!wanted.contains(blob.key)) options_.blobs->remove(blob.key);
  }

  Options options_;
  mutable LeftQueues left_;
};

void check_queue_name(const std::string& queue) {
  try {
    if (!queue.empty()) check_name("queue name", queue, longest_name);
  } catch (const InvalidRequest& error) {
    throw ConfigError{error.what()};
  }
}

void check(const Options& options) {
  if (!options.broker || !options.blobs)
    throw ConfigError{"results need a broker for messages and a store of blobs for parts"};
  if (options.request_queue.empty() || options.notify_queue.empty())
    throw ConfigError{"results need a queue for requests and one for notices; name both"};
  if (options.abandon_after <= Millis{0} || options.timeout < Millis{0} ||
      options.queue_patience < Millis{0})
    throw ConfigError{"the times of results must be positive"};
  check_queues(options);
  for (const auto* queue : {&options.request_queue, &options.notify_queue, &options.failure_queue,
                            &options.intake_queue})
    check_queue_name(*queue);
  for (const auto& queue : options.notify_queues) check_queue_name(queue);
}

std::vector<std::string> kept_queues(const Options& options) {
  std::vector<std::string> queues{options.request_queue, options.notify_queue};
  if (!options.failure_queue.empty()) queues.push_back(options.failure_queue);
  for (const auto& queue : options.notify_queues)
    if (queue != options.notify_queue) queues.push_back(queue);
  return queues;
}

}  // namespace

std::string blob_key(const std::string& id, const std::string& series, std::int64_t ordinal,
                     int round) {
  std::string folder;
  for (unsigned char c : series) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    folder += plain || c == '-' ? std::string(1, static_cast<char>(c)) : fmt::format("_{:02x}", c);
  }
  auto number = round == 0 ? std::to_string(ordinal) : fmt::format("{}-r{}", ordinal, round);
  return fmt::format("{}/{}/{}.blob", id, folder, number);
}

StateMachine machine(const Options& options) {
  check(options);
  const auto kept = kept_queues(options);
  for (const auto& queue : kept) options.broker->declare(queue);
  auto handlers = std::make_shared<const Handlers>(options);
  using Rules = States<State>::Rules;
  const Rules rules{.on_failure = State::cleaning};
  const Rules telling{.on_failure = State::cleaning, .leave_when_sent = true};
  const Rules waiting{.on_failure = State::cleaning,
                      .on_missing_queue = State::needs_resend,
                      .unreadable_after = options.queue_patience,
                      .on_unreadable_queue = State::needs_new_queues};
  auto state = [handlers](Next (Handlers::*handler)(Transaction&) const) {
    return [handlers, handler](Transaction& transaction) {
      return ((*handlers).*handler)(transaction);
    };
  };
  auto messages = [handlers](Transaction& transaction, std::span<Incoming> incoming) {
    return handlers->take(transaction, incoming);
  };
  States<State> states{machine_name};
  states.on(State::request_forwarding, state(&Handlers::forward_request), telling)
      .on(State::awaiting_results, state(&Handlers::await), waiting)
      .on_messages(State::awaiting_results, queues_of, messages, replaced_queues_of)
      .on(State::needs_resend, state(&Handlers::ask_again), rules)
      .on(State::needs_new_queues, state(&Handlers::replace_queues), rules)
      .on(State::sending_completion, state(&Handlers::send_completion), telling)
      .on(State::cleaning, state(&Handlers::clean), {.leave_when_sent = true})
      .completes(State::completed)
      .fails(State::failed);
  states.keeps_queues(kept).send_timeout(options.abandon_after, State::cleaning);
  if (options.timeout > Millis{0}) states.timeout(options.timeout, State::cleaning);
  return states.machine();
}

}  // namespace holdfast::results
