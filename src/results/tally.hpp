#pragma once

#include <map>

#include "results/envelope.hpp"

namespace holdfast::results {

/// What a transaction knows beside its ledger.
struct Knowledge {
  bool announced = false;
  std::map<std::string, std::int64_t> series{};  ///< how many parts each is to have
  int resends = 0;
  int round = 0;               ///< see `blob_key`
  int asks = 0;                ///< requests to the producer in this round
  std::int64_t silent_ms = 0;  ///< so long it has listened since anything new came
  bool asked = false;          ///< in this round: the request is in the outbox, or was
  bool notified = false;       ///< the notice that it is complete is in the outbox, or was
  bool ended = false;          ///< its last round failed: the client is told, the ledger forgotten
  int queue_round = 0;         ///< of its queues; see `header_queue`
};
BOOST_DESCRIBE_STRUCT(Knowledge, (),
                      (announced, series, resends, round, asks, silent_ms, asked, notified, ended,
                       queue_round))
/// Of one that has just begun there is nothing yet.
Knowledge knowledge_of(const std::string& data_json);

/// Ordinals, as few numbers as possible however many there are.
class Ordinals {
 public:
  bool contains(std::int64_t ordinal) const;
  void add(std::int64_t ordinal);
  std::int64_t highest() const { return runs_.empty() ? 0 : runs_.rbegin()->second; }
  /// How many there are from 1 to `last`.
  std::int64_t count_up_to(std::int64_t last) const;
  /// First and last of each gap between 1 and `last`.
  std::vector<std::pair<std::int64_t, std::int64_t>> missing_up_to(std::int64_t last) const;

 private:
  std::map<std::int64_t, std::int64_t> runs_;  ///< first and last of each
};

/// Which parts are there and which are to be.
struct Tally {
  Knowledge known{};
  std::map<std::string, Ordinals> received{};

  Tally(const std::string& data_json, const std::vector<LedgerEntry>& ledger);
  /// Every ordinal of every announced series is there.
  bool complete() const;
  bool expects(const std::string& series, std::int64_t ordinal) const;
  Progress progress() const;
};

}  // namespace holdfast::results
