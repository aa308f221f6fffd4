#include "tasks/policy.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include "recovery/time_text.hpp"

namespace holdfast {

namespace {

constexpr std::size_t longest_reason = 4'000;
constexpr Millis longest_delay = std::chrono::hours{24 * 365 * 10};

/// Handlers may say anything at any length; what is kept with the task is bounded. Cuts between
/// characters, not within one.
std::string clipped(std::string_view text) {
  if (text.size() <= longest_reason) return std::string{text};
  auto end = longest_reason;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return fmt::format("{} [{} bytes more]", text.substr(0, end), text.size() - end);
}

std::string said(const std::string& reason) {
  return reason.empty() ? "the handler did not say why" : clipped(reason);
}

Millis sane(Millis delay) { return std::clamp(delay, Millis{0}, longest_delay); }

bool is_finite(const boost::json::value& value) {
  auto is = [](const auto& each) { return is_finite(each); };
  if (value.is_double()) return std::isfinite(value.get_double());
  if (value.is_array()) return std::ranges::all_of(value.get_array(), is);
  if (!value.is_object()) return true;
  return std::ranges::all_of(value.get_object(),
                             [](const auto& m) { return is_finite(m.value()); });
}

class Settling {
 public:
  Settling(const Claimed& claimed, const AttemptEnd& end) : claimed_{claimed}, end_{end} {
    settlement_.lease = claimed.lease;
    settlement_.attempt = claimed.attempt;
    settlement_.kind = claimed.kind;
    settlement_.name = claimed.name;
  }

  Settlement operator()(const Done& done) {
    settlement_.to = TaskState::completed;
    if (!is_finite(done.result))
      return failed(fmt::format(
          "Attempt {} of {} was done, but its result has a number that JSON cannot hold, such as "
          "infinity.",
          claimed_.attempt, claimed_.max_attempts));
    settlement_.result = done.text;
    if (done.text.empty() && !done.result.is_null())
      settlement_.result = boost::json::serialize(done.result);
    auto size = static_cast<std::int64_t>(settlement_.result.size());
    if (size <= end_.result_bytes) return settlement_;
    // Running it again would only repeat its effects: the result would be as large.
    settlement_.result.clear();
    return failed(
        fmt::format("Attempt {} of {} was done, but its result has {} bytes and at most "
                    "{} are allowed (limits.result_bytes).",
                    claimed_.attempt, claimed_.max_attempts, size, end_.result_bytes));
  }

  Settlement operator()(const Retry& retry) {
    if (end_.cancel_requested) return cancelled(retry.reason);
    return again(end_.timed_out ? too_long(retry.reason) : said(retry.reason), retry.delay);
  }

  Settlement operator()(const Fail& fail) {
    if (end_.cancel_requested) return cancelled(fail.reason);
    return failed(fmt::format("Attempt {} of {} failed for good: {}", claimed_.attempt,
                              claimed_.max_attempts, said(fail.reason)));
  }

  Settlement operator()(const Hold& hold) {
    if (end_.cancel_requested) return cancelled(hold.cause);
    settlement_.to = TaskState::held;
    settlement_.reason = end_.timed_out ? too_long(hold.cause) : said(hold.cause);
    return settlement_;
  }

  Settlement operator()(const Snooze& snooze) {
    if (end_.cancel_requested) return cancelled({});
    // Else a handler that always takes too long and then snoozes would never come to an end.
    if (end_.timed_out) return again(too_long({}), {});
    settlement_.to = TaskState::pending;
    settlement_.attempt = std::max(claimed_.attempt - 1, 0);
    settlement_.was_attempt = false;
    settlement_.delay = sane(snooze.delay);
    return settlement_;
  }

 private:
  Settlement again(const std::string& why, std::optional<Millis> delay) {
    if (claimed_.attempt >= claimed_.max_attempts)
      return failed(fmt::format("Attempt {} of {} failed, and no more are allowed: {}",
                                claimed_.attempt, claimed_.max_attempts, why));
    settlement_.to = TaskState::pending;
    settlement_.delay =
        sane(delay ? *delay : backoff_delay(claimed_.backoff, claimed_.attempt, end_.random));
    settlement_.reason =
        fmt::format("Attempt {} of {} failed: {}", claimed_.attempt, claimed_.max_attempts, why);
    return settlement_;
  }

  Settlement failed(std::string reason) {
    settlement_.to = TaskState::failed;
    settlement_.reason = std::move(reason);
    return settlement_;
  }

  Settlement cancelled(const std::string& reason) {
    settlement_.to = TaskState::cancelled;
    settlement_.reason =
        reason.empty() ? "It was asked to stop and did."
                       : fmt::format("It was asked to stop and ended with: {}", clipped(reason));
    return settlement_;
  }

  std::string too_long(const std::string& reason) const {
    return fmt::format("it took longer than its timeout of {}{}{}", duration_text(claimed_.timeout),
                       reason.empty() ? "" : "; ", clipped(reason));
  }

  const Claimed& claimed_;
  const AttemptEnd& end_;
  Settlement settlement_{};
};

}  // namespace

Settlement settle_for(const Claimed& claimed, const Outcome& outcome, const AttemptEnd& end) {
  return std::visit(Settling{claimed, end}, outcome);
}

Settlement give_back(const Claimed& claimed, std::string reason) {
  auto settlement = settle_for(claimed, Snooze{Millis{0}}, {});
  settlement.reason = std::move(reason);
  return settlement;
}

}  // namespace holdfast
