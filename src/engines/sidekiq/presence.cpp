#include "engines/sidekiq/presence.hpp"

#include <unistd.h>

#include <ctime>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>

#include "engines/sidekiq/jobs.hpp"
#include "recovery/roster.hpp"

namespace holdfast::sidekiq {

namespace {

constexpr const char* seen_for_seconds = "60";
constexpr const char* day_kept_for_seconds = "157680000";  // five years, as Sidekiq keeps it

double seconds_now() {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

std::int64_t resident_kilobytes() {
  std::ifstream status{"/proc/self/status"};
  std::int64_t value = 0;
  for (std::string word; status >> word;)
    if (word == "VmRSS:" && status >> value) return value;
  return 0;
}

}  // namespace

Presence::Presence(redis::Server& server, int capacity, std::vector<std::string> queues)
    : server_{server}, identity_{fmt::format("{}:{}:{}", host_name(), ::getpid(), random_hex(12))} {
  info_ = boost::json::serialize(boost::json::object{{"hostname", host_name()},
                                                     {"started_at", seconds_now()},
                                                     {"pid", ::getpid()},
                                                     {"tag", "holdfast"},
                                                     {"concurrency", capacity},
                                                     {"queues", boost::json::value_from(queues)},
                                                     {"labels", boost::json::array{"holdfast"}},
                                                     {"identity", identity_}});
}

std::optional<std::string> Presence::beat(const Now& now) {
  auto day = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  auto asked = std::chrono::steady_clock::now();
  server_.call({"PING"});
  auto round_trip = std::chrono::steady_clock::now() - asked;
  std::vector<redis::Command> commands{
      {"SADD", "processes", identity_},
      {"HSET", identity_, "info", info_, "busy", std::to_string(now.busy), "beat",
       fmt::format("{:.6f}", seconds_now()), "rtt_us",
       std::to_string(round_trip / std::chrono::microseconds{1}), "quiet",
       now.quiet ? "true" : "false", "rss", std::to_string(resident_kilobytes())},
      {"EXPIRE", identity_, seen_for_seconds},
      {"RPOP", identity_ + "-signals"}};
  auto count = [&](const std::string& name, std::int64_t amount) {
    if (amount == 0) return;
    auto of_today = fmt::format("{}:{}", name, day);
    commands.push_back({"INCRBY", name, std::to_string(amount)});
    commands.push_back({"INCRBY", of_today, std::to_string(amount)});
    commands.push_back({"EXPIRE", of_today, day_kept_for_seconds});
  };
  count("stat:processed", now.processed);
  count("stat:failed", now.failed);
  auto replies = server_.call_all(commands);
  if (replies[3].is_nil()) return {};
  return replies[3].string();
}

void Presence::leave() {
  std::array commands{redis::Command{"SREM", "processes", identity_},
                      redis::Command{"DEL", identity_, identity_ + "-signals"}};
  server_.call_all(commands);
}

}  // namespace holdfast::sidekiq
