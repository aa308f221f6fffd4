#pragma once

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <mutex>
#include <thread>

#include <fmt/format.h>

#include <holdfast/http.hpp>
#include <holdfast/http/sidekiq.hpp>

#include "engines/sidekiq/recovery.hpp"
#include "engines/sidekiq/registry.hpp"
#include "support/http_server.hpp"
#include "support/redis_server.hpp"

namespace holdfast::sidekiq {

constexpr const char* request_class = "Sidekiq::AsyncHttp::RequestWorker";
constexpr const char* callback_class = "Sidekiq::AsyncHttp::CallbackWorker";

/// A job as the gem's client pushes it with Debian's Sidekiq.
struct Pushed {
  std::string url = "http://127.0.0.1:1/";
  std::string method = "get";
  boost::json::value body{};
  std::string id = "6f1b7a3e-0000-4000-8000-000000000001";
  std::string queue = "default";
  std::string type = request_class;
  boost::json::value retry = true;
  boost::json::value raise{};
  boost::json::value created_at = 1794711059.922772;
};

inline boost::json::object job_of(const Pushed& pushed) {
  boost::json::object data{
      {"http_method", pushed.method}, {"url", pushed.url},  {"headers", boost::json::object{}},
      {"body", pushed.body},          {"timeout", nullptr}, {"max_redirects", nullptr}};
  return {{"retry", pushed.retry},
          {"queue", pushed.queue},
          {"class", pushed.type},
          {"args", boost::json::array{data, "MyCallback", pushed.raise,
                                      boost::json::object{{"user_id", 7}}, pushed.id}},
          {"jid", "63c1a37615da17b21f943b48"},
          {"created_at", pushed.created_at},
          {"enqueued_at", pushed.created_at}};
}

/// A processor in a thread of its own, which ends with this object.
class Running {
 public:
  Running(const std::string& address, http::SidekiqOptions options)
      : processor_{address, std::move(options)}, thread_{[this] { summary_ = processor_.run(); }} {}
  ~Running() { stop(); }

  http::SidekiqProcessor& operator*() { return processor_; }
  http::SidekiqProcessor* operator->() { return &processor_; }
  /// Waits until it has ended by itself or was told to.
  http::SidekiqSummary join() {
    if (thread_.joinable()) thread_.join();
    return summary_;
  }
  http::SidekiqSummary stop() {
    processor_.stop();
    return join();
  }

 private:
  http::SidekiqProcessor processor_;
  http::SidekiqSummary summary_{};
  std::thread thread_;
};

/// Sidekiq's Redis, empty at the beginning of each test.
class SidekiqScenario : public testing::Test {
 protected:
  SidekiqScenario() { redis_.call({"FLUSHALL"}); }

  std::string address() const { return "sidekiq+" + redis_.sidekiq_address(); }
  std::string key(const std::string& name) const { return "sidekiq:async_http:" + name; }

  void push_text(const std::string& queue, const std::string& text) {
    redis_.call({"SADD", "queues", queue});
    redis_.call({"LPUSH", "queue:" + queue, text});
  }
  void push(const Pushed& pushed) {
    push_text(pushed.queue, boost::json::serialize(job_of(pushed)));
  }
  std::vector<std::string> texts(const redis::Command& command) {
    std::vector<std::string> list;
    auto reply = redis_.call(command);
    for (std::size_t i = 0; i < reply.size(); ++i) list.push_back(reply[i].string());
    return list;
  }
  /// The jobs on a queue, the oldest first.
  std::vector<boost::json::object> queue(const std::string& name = "default") {
    std::vector<boost::json::object> jobs;
    for (const auto& text : texts({"LRANGE", "queue:" + name, "0", "-1"}))
      jobs.insert(jobs.begin(), boost::json::parse(text).as_object());
    return jobs;
  }
  std::vector<boost::json::object> set(const std::string& name) {
    std::vector<boost::json::object> jobs;
    for (const auto& text : texts({"ZRANGE", name, "0", "-1"}))
      jobs.push_back(boost::json::parse(text).as_object());
    return jobs;
  }
  std::int64_t number(const redis::Command& command) { return redis_.call(command).number(); }

  /// The ids of jobs in the gem's registry, without the mark that tells whether it was lost.
  std::vector<std::string> registered() {
    auto ids = texts({"HKEYS", key("inflight_jobs")});
    std::erase(ids, "holdfast");
    return ids;
  }
  void expect_nothing_in_flight() {
    EXPECT_EQ(number({"ZCARD", key("inflight_index")}), 0);
    EXPECT_THAT(registered(), testing::IsEmpty());
    EXPECT_EQ(number({"HLEN", key("holdfast:leases")}), 0);
    EXPECT_EQ(number({"HLEN", key("holdfast:jobs")}), 0);
    EXPECT_EQ(number({"ZCARD", key("holdfast:beats")}), 0);
  }

  http::SidekiqOptions options() {
    http::SidekiqOptions options;
    options.processor.egress.allow_private = true;
    options.processor.until_empty = true;
    options.heartbeat_interval = Millis{1'000};
    options.orphan_threshold = Millis{300'000};
    options.log = [this](Severity severity, const std::string& sentence) {
      std::lock_guard lock{mutex_};
      (severity == Severity::error ? errors_ : infos_).push_back(sentence);
    };
    return options;
  }
  http::SidekiqSummary perform(http::SidekiqOptions with) {
    return http::SidekiqProcessor{address(), std::move(with)}.run();
  }
  http::SidekiqSummary perform() { return perform(options()); }
  /// Until one waits for its time in Sidekiq's retry set.
  http::SidekiqSummary perform_until_put_off(http::SidekiqOptions with) {
    with.processor.until_empty = false;
    Running processor{address(), std::move(with)};
    EXPECT_TRUE(test::eventually([&] { return number({"ZCARD", "retry"}) == 1; }));
    return processor.stop();
  }

  test::RedisServer& redis_ = test::shared_redis();
  std::mutex mutex_;
  std::vector<std::string> errors_, infos_;
};

}  // namespace holdfast::sidekiq
