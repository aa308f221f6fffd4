#include "engines/sidekiq/ending.hpp"

#include <cmath>

#include <fmt/format.h>

#include "engines/sidekiq/jobs.hpp"
#include "engines/sidekiq/result.hpp"
#include "http/phase.hpp"

namespace holdfast::sidekiq {

namespace {

using http::Answer;
using http::RequestError;
using http::Response;

constexpr std::string_view turned_away = "the circuit breaker of the host it led to was open";

std::string at(SystemTime now, double seconds) {
  auto since = std::chrono::duration<double>(now.time_since_epoch()).count();
  return fmt::format("{:.3f}", since + seconds);
}

RequestError raised(const Response& response) {
  RequestError error;
  error.type = http::ErrorType::http;
  error.duration = response.duration;
  error.response = response;
  return error;
}

class Deciding {
 public:
  Deciding(const RequestJob& job, const Answer& answer, const Origin& origin,
           const http::SidekiqOptions& options, const Dialect& dialect, SystemTime now)
      : job_{job},
        answer_{answer},
        origin_{origin},
        options_{options},
        dialect_{dialect},
        now_{now} {}

  Ending operator()(const Response& response) const {
    bool raise =
        job_.request.raise_error_responses.value_or(options_.processor.raise_error_responses);
    if (response.status >= 400 && raise) return deliver(raised(response));
    auto ending = callback(response_data(response, dialect_), "response");
    count(ending, response);
    return ending;
  }

  Ending operator()(const RequestError& error) const {
    if (error.type == http::ErrorType::circuit_open && may_not_be_repeated())
      return not_sent_again(turned_away);
    auto said = fmt::format("{}: {}", to_string(error.type), error.message);
    bool again = http::is_idempotent(job_.request.method) || !answer_.maybe_sent;
    bool passes = error.type == http::ErrorType::connection ||
                  error.type == http::ErrorType::response_damaged;
    if (passes && again && job_.failures() < options_.retries) {
      auto delay = std::pow(3.0, job_.failures());
      return {
          .kind = EndKind::retried,
          .effects = {{.what = "later",
                       .where = "retry",
                       .when = at(now_, delay),
                       .text = failed_text(job_.job, "Holdfast::ConnectionFailed", said, now_)}},
          .back_in = delay};
    }
    return deliver(error);
  }

  Ending operator()(const http::Postponed& postponed) const {
    // After a redirect.
    if (may_not_be_repeated()) return not_sent_again(turned_away);
    return postpone(origin_, postponed.wait, now_);
  }

  Ending operator()(const http::Cancelled&) const {
    return may_not_be_repeated() ? not_sent_again("it was broken off") : give_back(origin_);
  }

 private:
  bool may_not_be_repeated() const {
    return answer_.maybe_sent && http::is_only_once(job_.request);
  }

  Ending not_sent_again(std::string_view what) const {
    auto why = fmt::format("it may have been sent when {}, and is not sent again by itself", what);
    return {.kind = EndKind::died,
            .effects = {{.what = "dead", .text = not_sent_again_text(job_.job, why, now_)}},
            .why = why};
  }

  Ending deliver(const RequestError& error) const {
    auto ending = callback(error_data(error, answer_.location, dialect_), "error");
    if (error.response) {
      count(ending, *error.response);
    } else {
      count(ending, error.duration);
    }
    ending.totals.emplace_back("errors", 1);
    ending.totals.emplace_back(fmt::format("errors:{}", error_type(error)), 1);
    return ending;
  }

  static void count(Ending& ending, const Response& response) {
    count(ending, response.duration);
    ending.totals.emplace_back(fmt::format("http_status:{}", response.status), 1);
  }

  static void count(Ending& ending, double duration) {
    ending.totals = {{"requests", 1}, {"duration", duration}};
    ending.took = duration;
  }

  Ending callback(const boost::json::value& result, std::string_view type) const {
    const auto& queue = options_.callback_queue.empty() ? origin_.queue : options_.callback_queue;
    Ending ending;
    ending.effects.push_back({.what = "push",
                              .where = queue,
                              .text = callback_text(job_, result, type, queue, dialect_, now_)});
    if (!origin_.payload_key.empty())
      ending.effects.push_back({.what = "forget", .where = origin_.payload_key});
    return ending;
  }

  const RequestJob& job_;
  const Answer& answer_;
  const Origin& origin_;
  const http::SidekiqOptions& options_;
  const Dialect& dialect_;
  SystemTime now_;
};

}  // namespace

Ending decide_ending(const RequestJob& job, const Answer& answer, const Origin& origin,
                     const http::SidekiqOptions& options, const Dialect& dialect, SystemTime now) {
  return std::visit(Deciding{job, answer, origin, options, dialect, now}, answer.what);
}

Ending decide_failure(const boost::json::object& job, std::string_view error_class,
                      const std::string& why, SystemTime now) {
  RequestJob counted;
  counted.job = job;
  auto most = counted.most_failures();
  Ending ending{.kind = EndKind::dropped, .why = why};
  if (!most) return ending;
  auto text = failed_text(job, error_class, why, now);
  auto count = counted.failures();
  if (count < *most) {
    ending.kind = EndKind::retried;
    ending.effects = {{.what = "later",
                       .where = "retry",
                       .when = at(now, retry_delay(count)),
                       .text = std::move(text)}};
    return ending;
  }
  const auto* dead = job.if_contains("dead");
  if (dead && dead->is_bool() && !dead->get_bool()) return ending;
  ending.kind = EndKind::died;
  ending.effects = {{.what = "dead", .text = std::move(text)}};
  return ending;
}

Ending bury(const Origin& origin, const std::string& why) {
  return {.kind = EndKind::died,
          .effects = {{.what = "dead", .text = origin.text}},
          .why = fmt::format("its job cannot be read, and is in the dead set as it came: {}", why)};
}

Ending give_back(const Origin& origin) {
  return {.kind = EndKind::given_back,
          .effects = {{.what = "return", .where = origin.queue, .text = origin.text}}};
}

Ending postpone(const Origin& origin, Millis wait, SystemTime now) {
  const auto delay = std::chrono::duration<double>(wait).count();
  return {.kind = EndKind::postponed,
          .effects =
              {{.what = "later", .where = "schedule", .when = at(now, delay), .text = origin.text}},
          .back_in = delay};
}

}  // namespace holdfast::sidekiq
