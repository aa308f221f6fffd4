#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/blobs.hpp>
#include <holdfast/broker.hpp>
#include <holdfast/events.hpp>
#include <holdfast/transactions.hpp>

/// Large results that arrive in parts over queues: each part is stored once as a blob, and when all
/// are there a notice goes out. An application of `Transactions`; docs/results.md has the messages.
namespace holdfast::results {

inline constexpr const char* machine_name = "results";

enum class State {
  request_forwarding,  ///< the producer is told what is wanted and where to send it
  awaiting_results,    ///< parts are stored as they come
  needs_resend,        ///< a queue was gone and parts with it: the producer is asked again
  needs_new_queues,    ///< a queue cannot be read: others take their place
  sending_completion,  ///< all are there
  cleaning,            ///< the queues go, and of a failed one everything
  completed,
  failed,
};
BOOST_DESCRIBE_ENUM(State, request_forwarding, awaiting_results, needs_resend, needs_new_queues,
                    sending_completion, cleaning, completed, failed)

struct Options {
  std::shared_ptr<Broker> broker{};
  std::shared_ptr<BlobStore> blobs{};
  std::string request_queue{};  ///< the producer's
  std::string notify_queue{};  ///< told that a result is complete, unless its request names another
  std::string failure_queue{};  ///< told that a result failed; empty: the queue for its notice
  /// Queues that a request may name (`notifyQueue`), and beginnings of such queues. Whatever they
  /// say, a request never names a reserved queue (`holdfast.`, `holdfast-`, `transaction-`,
  /// `amq.`), the request queue or the intake queue.
  std::vector<std::string> notify_queues{};
  std::vector<std::string> notify_prefixes{};
  std::string intake_queue{};  ///< requests of clients come here; see `Intake`
  /// When it has listened for so long without anything new, the producer is taken for dead, and the
  /// transaction fails. While the store, the broker or the blobs are away, or messages wait, this
  /// time stands still.
  Millis abandon_after{std::chrono::minutes{30}};
  /// A queue that cannot be read for so long gets a successor, and the producer is asked to send
  /// what is missing there.
  Millis queue_patience{std::chrono::minutes{2}};
  Millis timeout{0};  ///< for a whole transaction; 0: none
  /// Told what becomes of parts, and that one was abandoned; `Engine::events` is meant for it.
  std::function<void(const Event&)> tell{};
  int max_resends = 5;        ///< so often the producer is asked again
  int max_series = 100;       ///< that a header may announce
  int max_ordinal = 100'000;  ///< and so many parts of each
};

/// The queues of a transaction. Where they could not be read, others took their place, with the
/// number of the round in their names.
std::string header_queue(const std::string& id, int round = 0);
std::string payload_queue(const std::string& id, int round = 0);
/// Where a part is kept: `{id}/{series}/{ordinal}.blob`. What is not a letter, digit or `-` in the
/// name of a series becomes `_` and two hexadecimal digits. A transaction that starts over after
/// its parts were removed is in its next round, and has `-r{round}` after the ordinals: who is late
/// with removing the old ones does not find the new ones.
std::string blob_key(const std::string& id, const std::string& series, std::int64_t ordinal,
                     int round = 0);

/// Throws `ConfigError` for options that make no sense. Declares the request queue and the queues
/// for notices that the options name.
StateMachine machine(const Options& options);

/// How far one series is.
struct SeriesProgress {
  std::string series;
  std::int64_t received = 0;   ///< of those expected, where that is known
  std::int64_t surplus = 0;    ///< stored before the header came, which does not know them
  std::int64_t expected = -1;  ///< -1: not announced
  /// First and last ordinal of each gap; where nothing is announced, up to the highest received.
  std::vector<std::pair<std::int64_t, std::int64_t>> missing{};
};
struct Progress {
  bool announced = false;  ///< the header has come
  int resends = 0;
  Millis silent{0};  ///< so long it has listened since anything new came, in whole slices
  std::vector<SeriesProgress> series{};
  bool complete() const;
};
/// Reads what a transaction of this machine knows.
Progress progress_of(const TransactionRecord& transaction, const std::vector<LedgerEntry>& ledger);
/// `17, 42-44`
std::string gaps_text(const std::vector<std::pair<std::int64_t, std::int64_t>>& gaps);

/// What was removed for transactions that have ended.
struct CleanUp {
  std::int64_t queues = 0;
  std::int64_t blobs = 0;
};
/// Removes the queues and blobs of transactions that were cancelled or failed. (Those that complete
/// remove their queues themselves.) Messages that are still in a queue become dead letters first.
/// What belongs to no transaction of the store is left alone. Safe beside running ones.
CleanUp clean_up(const Engine& engine, Broker& broker, BlobStore& blobs);

/// Takes requests of clients from `Options::intake_queue` and starts a transaction for each. A
/// message is a JSON object: `transactionId` (the client's own, so that it can ask twice) and
/// `request`, anything. What it cannot start, such as a request that names a queue for its notice
/// that it may not name, becomes a dead letter.
class Intake {
 public:
  Intake(Engine engine, const Options& options);
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::results
