#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <holdfast/error.hpp>
#include <holdfast/http/sidekiq.hpp>

#include "engines/redis/server.hpp"
#include "engines/sidekiq/check_server.hpp"
#include "engines/sidekiq/registry.hpp"
#include "engines/sidekiq/request_job.hpp"
#include "http/left_alone.hpp"
#include "recovery/clock.hpp"
#include "tasks/time_histogram.hpp"

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

/// Those of whatever process, the ones that were heard of longest ago first.
std::vector<SidekiqRequest> requests_in_hand(redis::Server& server, const std::string& prefix) {
  std::vector<SidekiqRequest> requests;
  auto time = server.call({"TIME"});
  auto now = time[0].number() * 1'000 + time[1].number() / 1'000;
  auto entries = server.call({"ZRANGE", prefix + ":inflight_index", "0", "-1", "WITHSCORES"});
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    SidekiqRequest request;
    request.id = entries[i].string();
    request.process = request.id.substr(0, request.id.find('/'));
    request.silence = Millis{now - static_cast<std::int64_t>(entries[i + 1].real())};
    requests.push_back(std::move(request));
  }
  return requests;
}

/// What those of ours tell of themselves.
std::map<std::string, Standing> standings(redis::Server& server, const sidekiq::Dialect& dialect,
                                          const std::vector<SidekiqRequest>& requests) {
  std::map<std::string, Standing> told;
  for (const auto& request : requests) told[request.process];
  auto members = server.call({"SMEMBERS", fmt::format("{}:processes", dialect.prefix)});
  for (std::size_t i = 0; i < members.size(); ++i) told[members[i].string()];
  for (auto& [process, standing] : told)
    standing =
        Standing::parse(server.call({"GET", sidekiq::standing_key(dialect, process)}).string());
  return told;
}

/// The ids of requests that wait in a process for a place at their host: those that it took after
/// as many as it sends there at once.
std::set<std::string> waiting_ids(redis::Server& server, const std::string& prefix,
                                  const std::map<std::string, Standing>& told) {
  struct Lease {
    std::int64_t token = 0;
    std::string host{}, id{};
  };
  std::map<std::string, std::vector<Lease>> limited;
  auto leases = server.call({"HGETALL", prefix + ":holdfast:leases"});
  for (std::size_t i = 0; i + 1 < leases.size(); i += 2) {
    auto id = leases[i].string();
    auto process = told.find(id.substr(0, id.find('/')));
    std::istringstream words{leases[i + 1].string()};
    Lease lease{.id = std::move(id)};
    std::string phase;
    if (process != told.end() && process->second.per_host > 0 &&
        words >> lease.token >> lease.host >> phase)
      limited[process->first].push_back(std::move(lease));
  }
  std::set<std::string> waiting;
  for (auto& [process, list] : limited) {
    std::ranges::sort(list, {}, &Lease::token);
    std::map<std::string, int> at_host;
    for (const auto& lease : list)
      if (++at_host[lease.host] > told.at(process).per_host) waiting.insert(lease.id);
  }
  return waiting;
}

void add_targets(redis::Server& server, const std::string& prefix,
                 std::vector<SidekiqRequest>& requests) {
  if (requests.empty()) return;
  auto get = [&](const std::string& key) {
    redis::Command wanted{"HMGET", prefix + key};
    for (const auto& request : requests) wanted.push_back(request.id);
    return server.call(wanted);
  };
  auto jobs = get(":inflight_jobs"), leases = get(":holdfast:leases");
  auto time = server.call({"TIME"});
  auto now = time[0].number() * 1'000'000 + time[1].number();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    add_target(requests[i], jobs[i].string());
    // A token is the time at which a request was taken, or a little more.
    std::int64_t token = 0;
    if (std::istringstream{leases[i].string()} >> token)
      requests[i].age = Millis{std::max<std::int64_t>(now - token, 0) / 1'000};
  }
}

std::vector<SidekiqProcess> processes(redis::Server& server, const std::string& prefix,
                                      const std::map<std::string, Standing>& told) {
  std::vector<SidekiqProcess> all;
  for (const auto& [process, standing] : told) {
    auto capacity =
        server.call({"GET", fmt::format("{}:processes:{}:max_connections", prefix, process)});
    all.push_back({.id = process,
                   .capacity = static_cast<int>(capacity.number()),
                   .state = standing.state,
                   .trouble = standing.trouble});
  }
  return all;
}

SidekiqTimes times(redis::Server& server, const std::string& prefix) {
  auto classes = server.call({"HGETALL", prefix + ":holdfast:times"});
  std::string text;
  for (std::size_t i = 0; i + 1 < classes.size(); i += 2)
    text += fmt::format("{}{}:{}", i == 0 ? "" : " ", classes[i].text(), classes[i + 1].text());
  const auto histogram = TimeHistogram::parse(text);
  const auto seconds = [&](double part) { return histogram.percentile_ms(part).value_or(0) / 1e3; };
  return {histogram.total(), seconds(0.5), seconds(0.95), seconds(0.99)};
}

}  // namespace

SidekiqStatus sidekiq_status(std::string_view address, int most_in_flight) {
  auto parsed = sidekiq::parse_address(address);
  redis::Server server{parsed.redis};
  sidekiq::check_format(server, *parsed.dialect);
  std::string prefix{parsed.dialect->prefix};
  SidekiqStatus status;
  auto& requests = status.in_flight;
  requests = requests_in_hand(server, prefix);
  const auto told = standings(server, *parsed.dialect, requests);
  const auto waiting = waiting_ids(server, prefix, told);
  status.processes = processes(server, prefix, told);
  for (const auto& request : requests) {
    auto process = std::ranges::find(status.processes, request.process, &SidekiqProcess::id);
    ++(waiting.contains(request.id) ? process->waiting : process->in_flight);
  }
  std::erase_if(requests, [&](const auto& request) { return waiting.contains(request.id); });
  status.in_flight_count = std::ssize(requests);
  if (std::ssize(requests) > most_in_flight)
    requests.resize(static_cast<std::size_t>(most_in_flight));
  add_targets(server, prefix, requests);
  std::vector<Standing> all;
  for (const auto& [process, standing] : told) all.push_back(standing);
  status.left_alone = left_alone_by_any(all, system_clock().wall());
  auto queues = server.call({"SMEMBERS", "queues"});
  for (std::size_t i = 0; i < queues.size(); ++i)
    status.queues[queues[i].string()] =
        server.call({"LLEN", "queue:" + queues[i].string()}).number();
  auto totals = server.call({"HGETALL", prefix + ":totals"});
  for (std::size_t i = 0; i + 1 < totals.size(); i += 2)
    status.totals[totals[i].string()] = totals[i + 1].real();
  // Whoever clears the totals means these, too.
  if (!status.totals.empty()) status.times = times(server, prefix);
  return status;
}

}  // namespace holdfast::http
