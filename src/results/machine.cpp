#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "recovery/kill_point.hpp"
#include "recovery/time_text.hpp"
#include "results/look.hpp"
#include "results/lost_ledger.hpp"
#include "results/notice.hpp"
#include "results/notify_queue.hpp"
#include "results/rounds.hpp"
#include "results/store_part.hpp"

namespace holdfast::results {

namespace {

WallTime wall_now() {
  return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
}

/// The handlers of the states. They keep nothing of their own: what they know is in the
/// transaction.
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
    transaction.send(request_for(transaction, options_, nullptr));
    return go(State::awaiting_results);
  }

  Next await(Transaction& transaction) const {
    auto tally = std::make_shared<Tally>(transaction.data_json(), ledger(transaction));
    transaction.memory() = tally;
    if (tally->complete()) return go(State::sending_completion);
    auto silent = wall_now() - transaction.progressed_at();
    if (silent >= options_.abandon_after)
      return go(State::cleaning, fmt::format("abandoned: nothing came for {}{}",
                                             duration_text(options_.abandon_after),
                                             tally->known.announced ? "" : ", not even a header"));
    return listen(options_.abandon_after - silent);
  }

  Next take(Transaction& transaction, std::span<Incoming> messages) const {
    auto& tally = *static_cast<Tally*>(transaction.memory().get());
    std::vector<LedgerEntry> entries;
    for (auto& message : messages) {
      try {
        auto read = read_message(message.delivery(), transaction.id(), options_);
        if (auto* header = std::get_if<HeaderMessage>(&read))
          announce(transaction, tally, *header);
        else
          take_part(transaction, tally, message.delivery(), std::get<PartMessage>(read), entries);
      } catch (const Malformed& error) {
        message.reject(error.what());
      }
    }
    if (!entries.empty()) transaction.record(std::move(entries));
    if (tally.complete()) return go(State::sending_completion);
    return listen(options_.abandon_after);
  }

  Next ask_again(Transaction& transaction) const {
    Tally tally{transaction.data_json(), ledger(transaction)};
    if (tally.complete()) return go(State::sending_completion);
    if (++tally.known.resends > options_.max_resends)
      return fail(fmt::format("parts of it, or a queue, were gone {} times", tally.known.resends));
    declare_queues(transaction);
    transaction.keep(tally.known);
    transaction.send(request_for(transaction, options_, &tally));
    return go(State::awaiting_results);
  }

  Next send_completion(Transaction& transaction) const {
    auto lines = ledger(transaction);
    Tally tally{transaction.data_json(), lines};
    if (!tally.complete()) return go(State::needs_resend, "parts of it are gone");
    auto look = look_at_parts(*options_.blobs, transaction.id(), tally, lines);
    if (look.gone > 0) return reopen(transaction, look);
    transaction.send(completion_of(transaction, options_, tally, lines, wall_now()));
    return go(State::cleaning);
  }

  Next clean(Transaction& transaction) const {
    options_.broker->remove(header_queue(transaction.id()));
    options_.broker->remove(payload_queue(transaction.id()));
    if (!transaction.reason().empty()) return remove_everything(transaction);
    remove_unwanted(transaction);
    return go(State::completed);
  }

 private:
  // Before its parts go, the transaction knows that they do. Whoever was taken for dead here and
  // goes on removing them later, when it was retried, finds parts of another round.
  Next remove_everything(Transaction& transaction) const {
    auto round = knowledge_of(transaction.data_json()).round + 1;
    transaction.keep(Knowledge{.round = round});
    transaction.forget_ledger();
    remove_rounds_before(*options_.blobs, transaction.id(), round);
    return go(State::failed, transaction.reason());
  }

  // In a step of its own: if it is the last one, the next holder finds that parts are missing.
  static Next reopen(Transaction& transaction, const Look& look) {
    kill_point(KillPoint::look_before_reopen);
    transaction.replace_ledger(look.there);
    kill_point(KillPoint::look_after_reopen);
    return go(State::needs_resend, look.reason());
  }

  void declare_queues(const Transaction& transaction) const {
    options_.broker->declare(header_queue(transaction.id()));
    options_.broker->declare(payload_queue(transaction.id()));
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
    if (first && from_payload<StoredPart>(*first).sha256 != sum_of(delivery, part))
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
      if (tally.expects(entry.series, entry.ordinal))
        wanted.insert(from_payload<StoredPart>(entry.value).blob);
    for (const auto& blob : options_.blobs->list(transaction.id() + "/"))
      if (!wanted.contains(blob.key)) options_.blobs->remove(blob.key);
  }

  Options options_;
};

void check(const Options& options) {
  if (!options.broker || !options.blobs)
    throw ConfigError{"results need a broker for messages and a store of blobs for parts"};
  if (options.request_queue.empty() || options.notify_queue.empty())
    throw ConfigError{"results need a queue for requests and one for notices; name both"};
  if (options.abandon_after <= Millis{0} || options.timeout < Millis{0})
    throw ConfigError{"the times of results must be positive"};
  check_notify_queues(options);
}

}  // namespace

std::string header_queue(const std::string& id) { return "transaction-" + id + "-header"; }
std::string payload_queue(const std::string& id) { return "transaction-" + id + "-payload"; }

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
  options.broker->declare(options.request_queue);
  options.broker->declare(options.notify_queue);
  for (const auto& queue : options.notify_queues) options.broker->declare(queue);
  auto handlers = std::make_shared<const Handlers>(options);
  auto queues = [](const Transaction& transaction) {
    return std::vector{header_queue(transaction.id()), payload_queue(transaction.id())};
  };
  using Rules = States<State>::Rules;
  const Rules rules{.on_failure = State::cleaning};
  const Rules waiting{.on_failure = State::cleaning, .on_missing_queue = State::needs_resend};
  auto state = [handlers](Next (Handlers::*handler)(Transaction&) const) {
    return [handlers, handler](Transaction& transaction) {
      return ((*handlers).*handler)(transaction);
    };
  };
  auto messages = [handlers](Transaction& transaction, std::span<Incoming> incoming) {
    return handlers->take(transaction, incoming);
  };
  States<State> states{machine_name};
  states.on(State::request_forwarding, state(&Handlers::forward_request), rules)
      .on(State::awaiting_results, state(&Handlers::await), waiting)
      .on_messages(State::awaiting_results, queues, messages)
      .on(State::needs_resend, state(&Handlers::ask_again), rules)
      .on(State::sending_completion, state(&Handlers::send_completion), rules)
      .on(State::cleaning, state(&Handlers::clean))
      .completes(State::completed)
      .fails(State::failed);
  states.send_timeout(options.abandon_after, State::cleaning);
  if (options.timeout > Millis{0}) states.timeout(options.timeout, State::cleaning);
  return states.machine();
}

}  // namespace holdfast::results
