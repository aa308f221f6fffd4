#pragma once

#include <string>
#include <string_view>

namespace holdfast::redis {

/// A Lua script, known to servers by the SHA-1 of its text.
class Script {
 public:
  Script(std::string_view name, std::string_view text);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  const std::string& sha() const { return sha_; }

 private:
  std::string name_;
  std::string text_;
  std::string sha_;
};

/// Each is described where it is written: in `lua/`, with its arguments and its result.
namespace scripts {

extern const Script adopt;
extern const Script adopt_transactions;
extern const Script after_end;
extern const Script apply_schedules;
extern const Script beat;
extern const Script begin_result;
extern const Script bury;
extern const Script check;
extern const Script clear;
extern const Script complete_report;
extern const Script continue_history;
extern const Script enlist;
extern const Script exchange;
extern const Script forget;
extern const Script insert;
extern const Script look;
extern const Script move;
extern const Script new_life;
extern const Script next_due;
extern const Script orphans;
extern const Script pause;
extern const Script prune;
extern const Script put_back;
extern const Script reclaim;
extern const Script record;
extern const Script record_ledger;
extern const Script remove_limit;
extern const Script remove_schedule;
extern const Script renew;
extern const Script retire;
extern const Script set_limits;
extern const Script step;

}  // namespace scripts

}  // namespace holdfast::redis
