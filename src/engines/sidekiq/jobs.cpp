#include "engines/sidekiq/jobs.hpp"

#include <cmath>
#include <random>

#include "engines/sidekiq/ruby_json.hpp"

namespace holdfast::sidekiq {

namespace {

constexpr std::string_view recoveries = "holdfast_recoveries";
constexpr std::size_t longest_message = 10'000;
constexpr std::size_t digits_of_a_job = 24;

std::random_device& source() {
  thread_local std::random_device device;
  return device;
}

}  // namespace

std::string random_hex(std::size_t digits) {
  constexpr std::string_view all = "0123456789abcdef";
  std::uniform_int_distribution<std::size_t> any{0, all.size() - 1};
  std::string text;
  while (text.size() < digits) text += all[any(source())];
  return text;
}

std::string callback_text(const RequestJob& of, const boost::json::value& result,
                          std::string_view type, const std::string& queue, const Dialect& dialect,
                          SystemTime now) {
  auto time = time_in_style_of(of.job, now);
  return ruby_text(boost::json::object{{"retry", true},
                                       {"queue", queue},
                                       {"class", dialect.callback_class},
                                       {"args", boost::json::array{result, type, of.callback}},
                                       {"jid", random_hex(digits_of_a_job)},
                                       {"created_at", time},
                                       {"enqueued_at", time}});
}

std::string failed_text(const boost::json::object& job, std::string_view error_class,
                        const std::string& message, SystemTime now) {
  auto failed = job;
  if (const auto* other = job.if_contains("retry_queue"); other && other->is_string())
    failed["queue"] = *other;
  failed["error_message"] = as_utf8(message.substr(0, longest_message));
  failed["error_class"] = error_class;
  const auto* count = job.if_contains("retry_count");
  boost::json::error_code none;
  if (count) {
    failed["retried_at"] = time_in_style_of(job, now);
    failed["retry_count"] = count->to_number<std::int64_t>(none) + 1;
  } else {
    failed["failed_at"] = time_in_style_of(job, now);
    failed["retry_count"] = 0;
  }
  return ruby_text(failed);
}

std::string not_sent_again_text(const boost::json::object& job, const std::string& why,
                                SystemTime now) {
  return failed_text(job, "Holdfast::NotSentAgain", why, now);
}

std::string again_text(const boost::json::object& job, SystemTime now) {
  auto again = job;
  again["enqueued_at"] = time_in_style_of(job, now);
  return ruby_text(again);
}

int recoveries_of(const boost::json::object& job) {
  const auto* count = job.if_contains(recoveries);
  boost::json::error_code none;
  return count ? static_cast<int>(count->to_number<std::int64_t>(none)) : 0;
}

void set_recoveries(boost::json::object& job, int count) { job[recoveries] = count; }

std::string queue_of(const boost::json::object& job) {
  const auto* queue = job.if_contains("queue");
  return queue && queue->is_string() ? std::string{queue->get_string()} : std::string{"default"};
}

double retry_delay(int failures) {
  auto count = static_cast<double>(failures);
  auto jitter = std::uniform_int_distribution<>{0, 9}(source());
  return std::pow(count, 4) + 15 + jitter * (count + 1);
}

}  // namespace holdfast::sidekiq
