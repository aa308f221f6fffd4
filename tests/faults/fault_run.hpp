#pragma once

#include <set>
#include <string>

#include "faults/file_calls.hpp"
#include "faults/workload.hpp"

namespace holdfast::test {

/// Which call fails, and how.
struct FaultPlan {
  std::set<Call> among{};  ///< only these are counted
  int n = 0;               ///< the n-th fails; 0: none
  Fault fault{};
  bool for_ever = false;  ///< and all after it, until it is healed
};

/// Carries out a plan.
class NthCall {
 public:
  explicit NthCall(FaultPlan plan) : plan_{std::move(plan)} {}

  std::optional<Fault> operator()(Call call, std::string_view file);
  void heal() { healed_ = true; }
  int calls() const { return calls_; }
  std::optional<Call> struck() const { return struck_; }  ///< the first call that failed
  const std::string& what() const { return what_; }       ///< the same in words

 private:
  FaultPlan plan_;
  int calls_ = 0;
  bool healed_ = false;
  std::optional<Call> struck_{};
  std::string what_ = "no call failed";
};

/// The workload while calls fail, and what must hold whatever fails: a step that was acknowledged
/// is there, one that was refused for lack of room is not and can be done again, and after a
/// failure of the storage nothing more is written until the store is opened again.
class FaultRun {
 public:
  explicit FaultRun(const FaultPlan& plan) : plan_{plan}, nth_{plan} {}

  void carry_out();
  const NthCall& nth() const { return nth_; }

 private:
  enum class End { done, refused, failed };
  End attempt(const Step& step);
  void be_refused(const Step& step);
  void be_failed();
  /// Whether the engine that met the fault must not go on.
  bool fatal() const;
  void open_while_it_lasts();

  FaultPlan plan_;
  NthCall nth_;
  Workplace place_;
  std::size_t acknowledged_ = 0;
  bool closed_since_ = false;  ///< by an engine that was not told, because it wrote no more
};

/// One run for the first call, one for the call `every` later, and so on. In the environment,
/// `HOLDFAST_FAULT=n` leaves one of them, and `HOLDFAST_FAULT_STRIDE` takes the place of `every`.
void fail_in_turn(const FaultPlan& plan, int every);

}  // namespace holdfast::test
