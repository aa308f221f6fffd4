#pragma once

#include <optional>
#include <string_view>

#include "engines/postgres/connection.hpp"
#include "recovery/report_head.hpp"
#include "recovery/worker_registry.hpp"

namespace holdfast::postgres {

/// Adds entries to a report in the transaction that does what they say. The row of the report comes
/// into being with the first of them.
class ReportEntries {
 public:
  explicit ReportEntries(const ReportHead& head) : head_{head} {}

  struct Orphan {
    TaskId id{};
    TaskState now = TaskState::pending;
    int attempt = 0;
    int max_attempts = 0;
    std::optional<WorkerId> worker{};
    std::string_view reason{};
    std::optional<std::string_view> error{};  ///< nothing: it was taken back
  };
  void add(const Orphan& orphan);
  void add(Connection& db, const DeadWorker& worker);
  /// Queues the statements for all of them; none if there are none.
  void queue(Connection& db);
  /// Queues the one that begins the report, if nothing did.
  void begin(Connection& db) const;

 private:
  const ReportHead& head_;
  Array tasks_{Type::uuid}, states_{Type::bigint}, attempts_{Type::bigint}, most_{Type::bigint},
      workers_{Type::uuid}, reasons_{Type::text}, errors_{Type::text};
  OrphanCounts counts_{};
  std::int64_t dead_workers_ = 0;
};

}  // namespace holdfast::postgres
