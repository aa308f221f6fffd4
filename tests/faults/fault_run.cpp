#include "faults/fault_run.hpp"

#include <gtest/gtest.h>

#include <cerrno>

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
    what_ = fmt::format("call {}, {} of {}, {}{}{}", calls_, to_string(call), file,
                        plan_.fault.error == ENOSPC ? "no room" : "I/O error",
                        plan_.fault.half ? " half way" : "", plan_.for_ever ? " and so on" : "");
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
    ++acknowledged_;
  }
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
    // A file that cannot be opened may be one that is not there or not ours: no reason to give up.
    EXPECT_EQ(nth_.struck(), Call::open) << nth_.what() << ": " << error.what();
  }
  EXPECT_TRUE(nth_.struck()) << "refused without a reason";
  return End::refused;
}

void FaultRun::be_refused(const Step& step) {
  auto found = snapshot(place_.database(), true);
  EXPECT_EQ(difference(state_after(acknowledged_), found), "") << "refused, but something was done";
  EXPECT_TRUE(!plan_.for_ever || attempt(step) == End::refused);
  nth_.heal();
  EXPECT_EQ(attempt(step), End::done) << "does not go on although all is well again";
}

bool FaultRun::fatal() const {
  auto call = nth_.struck();
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

int count_calls(const std::set<Call>& among) {
  NthCall counter{{.among = among}};
  Faults faults{std::ref(counter)};
  Workplace place;
  for (const auto& step : workload()) step.act(place);
  return counter.calls();
}

}  // namespace holdfast::test
