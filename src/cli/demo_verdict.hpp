#pragma once

#include <set>
#include <string>
#include <vector>

#include <holdfast/engine.hpp>

#include "cli/demo_fleet.hpp"

namespace holdfast::cli {

/// What the demo claims, counted from the orders that were acknowledged, the workers' own ledgers
/// and the store.
struct DemoVerdict {
  std::int64_t orders = 0;     ///< acknowledged
  std::int64_t completed = 0;  ///< of these
  std::int64_t receipts = 0;
  std::int64_t lost = 0;            ///< acknowledged and not completed
  std::int64_t doubled = 0;         ///< more than one receipt, or two values of one charge
  std::int64_t stale_accepted = 0;  ///< completed by an attempt that no longer held the order
  std::int64_t stale_refused = 0;
  std::int64_t kills = 0;
  std::int64_t stops = 0;
  std::int64_t interrupted = 0;  ///< attempts that a kill ended
  DemoTime slowest_recovery{};   ///< from a kill until the last of its orders ran again
  DemoTime median_recovery{};
  std::int64_t workers_lost = 0;  ///< ended although nobody killed them

  bool good() const {
    return lost == 0 && doubled == 0 && stale_accepted == 0 && workers_lost == 0 &&
           completed == orders && receipts == orders;
  }
};

DemoVerdict judge(const Engine& engine, const std::set<TaskId>& acknowledged,
                  const std::string& ledgers, const std::vector<DemoKill>& kills);

std::string to_json(const DemoVerdict& verdict, unsigned seed);
/// One line a claim.
std::vector<std::string> to_lines(const DemoVerdict& verdict);

}  // namespace holdfast::cli
