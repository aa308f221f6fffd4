#include "http/ending.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <boost/json/serialize.hpp>

#include "http/json.hpp"
#include "http/phase.hpp"
#include "http/retry_after.hpp"
#include "http/url.hpp"

namespace holdfast::http {

namespace {

/// The server says that it may go better next time.
bool is_passing(int status) {
  constexpr std::array passing{408, 425, 429, 502, 503, 504};
  return std::ranges::count(passing, status) > 0;
}

/// Of these, the ones that say that a request got through to somebody, or a part of it, and that
/// nobody knows what became of it. The others turned it away.
bool is_ambiguous(int status) {
  constexpr std::array ambiguous{408, 502, 504};
  return std::ranges::count(ambiguous, status) > 0;
}

bool is_passing(ErrorType type) {
  return type == ErrorType::timeout || type == ErrorType::connection || type == ErrorType::unknown;
}

/// What is counted, and nothing of what it says.
Writing summary_of(const Response& response) {
  Writing summary;
  summary.number("status", response.status)
      .fraction("duration", response.duration)
      .number("bytes", std::ssize(response.body));
  return summary;
}

class Deciding {
 public:
  Deciding(const Request& request, const AttemptFacts& facts, const Answer& answer)
      : request_{request},
        facts_{facts},
        maybe_sent_{answer.maybe_sent},
        status_{answer.status},
        dropped_{answer.dropped} {}

  Ending operator()(const Response& response) const {
    if (is_only_once(request_) && is_ambiguous(response.status)) return held(said(response));
    if (is_passing(response.status) && facts_.number < facts_.max_attempts)
      return {Retry{said(response), parse_retry_after(response.header("retry-after"), facts_.now)},
              {}};
    if (response.status >= 400 && facts_.raise_error_responses) return deliver(raised(response));
    auto document = Writing{}.json("response", json_text(response)).str();
    if (request_.callback.empty()) return {Done{.text = std::move(document)}, {}};
    return {Done{.text = summary_of(response).str()}, std::move(document)};
  }

  Ending operator()(const RequestError& error) const {
    auto said = fmt::format("{}: {}", to_string(error.type), error.message);
    // After a redirect, to a host whose circuit breaker is open.
    const bool was_turned_away = error.type == ErrorType::circuit_open;
    if (is_only_once(request_) && maybe_sent_ && (was_turned_away || may_pass(error.type)))
      return held(said);
    if (may_pass(error.type) && facts_.number < facts_.max_attempts)
      return {wants_no_pause() ? retry_in(Millis{0}, said) : retry(said), {}};
    return deliver(error);
  }

  Ending operator()(const Postponed& postponed) const {
    // After a redirect.
    if (is_only_once(request_) && maybe_sent_)
      return held("the circuit breaker of the host it led to is open");
    return {snooze(postponed.wait), {}};
  }
  Ending operator()(const Cancelled&) const { return {retry("it was broken off"), {}}; }

 private:
  /// An answer that nobody can read is one all the same: what was asked for has been done, unless
  /// its status says otherwise.
  bool may_pass(ErrorType type) const {
    if (type != ErrorType::response_damaged) return is_passing(type);
    return is_idempotent(request_.method) || is_passing(status_);
  }

  /// Servers close connections that were idle, and that says nothing about the host. But in the
  /// second attempt it is no accident.
  bool wants_no_pause() const {
    return dropped_ && is_idempotent(request_.method) && facts_.number == 1;
  }

  static Ending held(const std::string& why) {
    return {hold(fmt::format("It may have been sent, and is not sent again by itself; {}. "
                             "'holdfast task retry' sends it again.",
                             why)),
            {}};
  }

  static std::string said(const Response& response) {
    return fmt::format("{} answered {}", without_query(response.url), response.status);
  }

  static RequestError raised(const Response& response) {
    RequestError error;
    error.type = ErrorType::http;
    error.message = said(response);
    error.duration = response.duration;
    error.request_id = response.request_id;
    error.url = response.url;
    error.method = response.method;
    error.redirects = response.redirects;
    error.context = response.context;
    error.response = response;
    return error;
  }

  Ending deliver(const RequestError& error) const {
    if (request_.callback.empty())
      return {fail(fmt::format("{}: {}", to_string(error.type), error.message)), {}};
    boost::json::object summary{
        {"error", to_string(error.type)}, {"message", error.message}, {"duration", error.duration}};
    if (error.response) summary["status"] = error.response->status;
    return {Done{std::move(summary)},
            boost::json::serialize(boost::json::value{{"error", to_json(error)}}), true};
  }

  const Request& request_;
  const AttemptFacts& facts_;
  bool maybe_sent_;
  int status_;
  bool dropped_;
};

}  // namespace

Ending decide_ending(const Request& request, const Answer& answer, const AttemptFacts& facts) {
  return std::visit(Deciding{request, facts, answer}, answer.what);
}

std::string sealed_result(const Response& response, std::string_view sealed) {
  return summary_of(response).json("sealed", sealed).str();
}

}  // namespace holdfast::http
