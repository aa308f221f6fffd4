#include <array>
#include <charconv>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/http/sidekiq.hpp>

#include "engines/redis/server.hpp"
#include "engines/sidekiq/registry.hpp"
#include "engines/sidekiq/request_job.hpp"
#include "http/left_alone.hpp"
#include "recovery/clock.hpp"

namespace holdfast::http {

namespace {

/// `get` and the URL, where the job says so: it may be kept apart, or somebody else's.
void add_target(SidekiqRequest& request, const std::string& text) {
  try {
    auto job = sidekiq::read_request_job(sidekiq::parse_job(text), {});
    request.method = to_string(job.request.method);
    request.url = job.request.url;
  } catch (const InvalidRequest&) {
    request.method.clear();
  }
}

std::vector<SidekiqRequest> in_flight(redis::Server& server, const std::string& prefix, int most) {
  std::vector<SidekiqRequest> requests;
  auto time = server.call({"TIME"});
  auto now = time[0].number() * 1'000 + time[1].number() / 1'000;
  auto entries = server.call(
      {"ZRANGE", prefix + ":inflight_index", "0", std::to_string(most - 1), "WITHSCORES"});
  if (entries.size() == 0) return requests;
  redis::Command wanted{"HMGET", prefix + ":inflight_jobs"};
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    SidekiqRequest request;
    request.id = entries[i].string();
    request.process = request.id.substr(0, request.id.find('/'));
    request.silence = Millis{now - static_cast<std::int64_t>(entries[i + 1].real())};
    wanted.push_back(request.id);
    requests.push_back(std::move(request));
  }
  auto jobs = server.call(wanted);
  for (std::size_t i = 0; i < requests.size(); ++i) add_target(requests[i], jobs[i].string());
  return requests;
}

/// Also what those of ours tell of themselves.
std::vector<SidekiqProcess> processes(redis::Server& server, const sidekiq::Dialect& dialect,
                                      std::vector<Standing>& standings) {
  std::string prefix{dialect.prefix};
  std::map<std::string, std::int64_t> held;
  auto ids = server.call({"ZRANGE", prefix + ":inflight_index", "0", "-1"});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto id = ids[i].text();
    ++held[std::string{id.substr(0, id.find('/'))}];
  }
  auto members = server.call({"SMEMBERS", prefix + ":processes"});
  for (std::size_t i = 0; i < members.size(); ++i) held.try_emplace(members[i].string(), 0);
  std::vector<SidekiqProcess> all;
  for (const auto& [process, count] : held) {
    auto capacity =
        server.call({"GET", fmt::format("{}:processes:{}:max_connections", prefix, process)});
    standings.push_back(
        Standing::parse(server.call({"GET", sidekiq::standing_key(dialect, process)}).string()));
    all.push_back({process, static_cast<int>(capacity.number()), count, standings.back().state});
  }
  return all;
}

}  // namespace

SidekiqStatus sidekiq_status(std::string_view address, int most_in_flight) {
  auto parsed = sidekiq::parse_address(address);
  redis::Server server{parsed.redis};
  std::string prefix{parsed.dialect->prefix};
  SidekiqStatus status;
  status.in_flight = in_flight(server, prefix, most_in_flight);
  status.in_flight_count = server.call({"ZCARD", prefix + ":inflight_index"}).number();
  std::vector<Standing> standings;
  status.processes = processes(server, *parsed.dialect, standings);
  status.left_alone = left_alone_by_any(standings, system_clock().wall());
  auto queues = server.call({"SMEMBERS", "queues"});
  for (std::size_t i = 0; i < queues.size(); ++i)
    status.queues[queues[i].string()] =
        server.call({"LLEN", "queue:" + queues[i].string()}).number();
  auto totals = server.call({"HGETALL", prefix + ":totals"});
  for (std::size_t i = 0; i + 1 < totals.size(); i += 2)
    status.totals[totals[i].string()] = totals[i + 1].real();
  return status;
}

}  // namespace holdfast::http
