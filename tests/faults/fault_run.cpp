#include "faults/fault_run.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/inspector.hpp>

namespace holdfast::test {

std::optional<Fault> NthCall::operator()(Call call, std::string_view file) {
  if (!plan_.among.contains(call)) return {};
  ++calls_;
  bool due = plan_.for_ever ? calls_ >= plan_.n : calls_ == plan_.n;
  if (plan_.n == 0 || healed_ || !due) return {};
  if (!struck_) {
    struck_ = call;
    what_ = fmt::format("call {}, {} of {}: {}{}{}", calls_, to_string(call), file,
                        std::strerror(plan_.fault.error), plan_.fault.half ? ", half way" : "",
                        plan_.for_ever ? ", and so on" : "");
  }
  return plan_.fault;
}

void FaultRun::carry_out() {
  Faults faults{std::ref(nth_)};
  for (const auto& step : workload()) {
    SCOPED_TRACE(fmt::format("HOLDFAST_FAULT={} during '{}'", plan_.n, step.name));
    place_.clock().advance(Millis{1'000});
    auto end = attempt(step);
    if (end == End::failed) return be_failed();
    if (end == End::refused) be_refused(step);
    if (testing::Test::HasFailure()) return;
    // Whoever opens the store again reads what is there.
    closed_since_ |= nth_.struck() && !place_.is_open();
    ++acknowledged_;
  }
  nth_.heal();
  SCOPED_TRACE(nth_.what());
  EXPECT_FALSE(fatal()) << "nobody was told";
  EXPECT_EQ(difference(state_after(acknowledged_), snapshot(place_.database(), true)), "");
}

FaultRun::End FaultRun::attempt(const Step& step) {
  try {
    step.act(place_);
    return End::done;
  } catch (const StorageFailed& error) {
    EXPECT_TRUE(plan_.fault.error == EIO || fatal()) << nth_.what() << ": " << error.what();
    return End::failed;
  } catch (const StoreFull& error) {
    EXPECT_EQ(plan_.fault.error, ENOSPC) << nth_.what() << ": " << error.what();
  } catch (const StoreError& error) {
    // Not every failure leaves something unknown: there is no reason to give up if a file cannot be
    // opened, or memory is short.
    EXPECT_FALSE(fatal()) << nth_.what() << ": " << error.what();
  }
  EXPECT_TRUE(nth_.struck()) << "refused without a reason";
  return End::refused;
}

void FaultRun::be_refused(const Step& step) {
  EXPECT_TRUE(!plan_.for_ever || attempt(step) == End::refused);
  nth_.heal();
  if (!step.in_portions) {
    auto found = snapshot(place_.database(), true);
    EXPECT_EQ(difference(state_after(acknowledged_), found), "")
        << "refused, but something was done";
  }
  EXPECT_EQ(attempt(step), End::done) << "does not go on although all is well again";
}

bool FaultRun::fatal() const {
  auto call = nth_.struck();
  if (closed_since_) return false;
  return call == Call::sync || (plan_.fault.error == EIO && call == Call::write);
}

void FaultRun::be_failed() {
  if (plan_.for_ever) open_while_it_lasts();
  nth_.heal();
  if (fatal() && place_.is_open()) {
    EXPECT_THROW(place_.insert({place_.task(900)}), StorageFailed)
        << "nobody knows what is on disk, whatever it says now";
  }
  place_.close();
  place_.open();
  auto found = snapshot(place_.database(), true);
  // The last step may have reached the disk although we were not told.
  if (!(found == state_after(acknowledged_ + 1))) {
    EXPECT_EQ(difference(state_after(acknowledged_), found), "");
  }
  Inspector{place_.handle()}.recover();
  place_.insert({place_.task(900)});
}

void FaultRun::open_while_it_lasts() {
  place_.close();
  try {
    place_.open();
  } catch (const StoreError&) {
    // That is what it should say; whether it has to depends on which calls fail.
  }
}

namespace {

/// How many calls of these kinds the workload makes.
int count_calls(const std::set<Call>& among) {
  NthCall counter{{.among = among}};
  Faults faults{std::ref(counter)};
  Workplace place;
  for (const auto& step : workload()) {
    place.clock().advance(Millis{1'000});
    step.act(place);
  }
  return counter.calls();
}

int number_given(const char* name, int otherwise) {
  const char* given = std::getenv(name);
  return given ? std::atoi(given) : otherwise;
}

}  // namespace

void fail_in_turn(const FaultPlan& plan, int every) {
  // Several at a time: most of a run is waiting for the kernel to take down its file watches.
  constexpr int runs_at_a_time = 6;
  every = number_given("HOLDFAST_FAULT_STRIDE", every);
  const int only = number_given("HOLDFAST_FAULT", 0);
  const int last = only ? only : count_calls(plan.among);
  std::atomic<int> next = only ? only : 1;
  state_after(0);
  std::vector<std::jthread> runners;
  for (int i = 0; i < runs_at_a_time; ++i) {
    runners.emplace_back([&] {
      for (int n = 0; (n = next.fetch_add(every)) <= last && !testing::Test::HasFailure();) {
        auto own = plan;
        own.n = n;
        FaultRun run{own};
        run.carry_out();
        // SQLite keeps memory for later, so that the last allocations do not happen in every run.
        EXPECT_TRUE(run.nth().struck() || plan.among.contains(Call::allocate))
            << "HOLDFAST_FAULT=" << n << " did not happen";
      }
    });
  }
}

}  // namespace holdfast::test
