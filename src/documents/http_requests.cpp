#include "documents/http_requests.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <holdfast/http/client.hpp>

#include "documents/http_health.hpp"
#include "documents/http_target.hpp"
#include "documents/json.hpp"

namespace holdfast {

namespace {

constexpr int most_running = 100'000;
constexpr int at_once = 32;
constexpr std::size_t longest_host = 260;  // 253, and a port

/// A few at a time, because each may have a large body in its payload.
void for_each_running(const Inspector& inspector,
                      const std::function<void(const TaskRecord&)>& look) {
  TaskPage page{.limit = at_once};
  for (int seen = 0; seen < most_running; seen += page.limit) {
    const auto some =
        inspector.tasks({.states = {TaskState::running}, .kind = http::request_kind}, page);
    for (const auto& task : some) look(task);
    if (std::ssize(some) < page.limit) return;
    page.after = some.back().id;
    page.offset += page.limit;
  }
}

std::optional<Millis> heartbeat_age(const std::vector<WorkerStatus>& workers,
                                    const TaskRecord& task, WallTime now) {
  for (const auto& worker : workers)
    if (task.worker == worker.id) return now - worker.last_heartbeat;
  return {};
}

/// A process claims some requests ahead, and some that wait for a place at their host. What it has
/// beyond its capacity, or for one host beyond the limit of that, was claimed last, and is not sent
/// yet.
void leave_out_claimed_ahead(std::vector<RequestInFlight>& requests,
                             const std::vector<WorkerStatus>& workers,
                             const std::map<std::string, int>& per_host) {
  std::map<std::string, int> room;
  for (const auto& worker : workers) room[worker.id.text()] = worker.concurrency;
  std::map<std::pair<std::string, std::string>, int> at_host;
  // The newest come first, also of those that were claimed together.
  std::ranges::reverse(requests);
  std::ranges::stable_sort(requests, std::greater{}, &RequestInFlight::age);
  std::erase_if(requests, [&](const auto& request) {
    const auto most = per_host.find(request.worker);
    if (most != per_host.end() && !request.host.empty() &&
        ++at_host[{request.worker, request.host}] > most->second)
      return true;
    const auto left = room.find(request.worker);
    return left != room.end() && left->second-- <= 0;
  });
}

}  // namespace

std::vector<RequestInFlight> requests_in_flight(const Engine& engine, int limit, WallTime now) {
  const Inspector inspector{engine};
  const auto workers = inspector.workers();
  std::vector<RequestInFlight> found;
  // Which of them are in flight is only known of all of them together.
  for_each_running(inspector, [&](const TaskRecord& task) {
    auto [method, host] = target_of(task);
    found.push_back({.id = task.id,
                     .age = task.claimed_at ? now - *task.claimed_at : Millis{0},
                     .method = std::move(method),
                     .host = std::move(host),
                     .worker = task.worker ? task.worker->text() : "",
                     .heartbeat_age = heartbeat_age(workers, task, now)});
  });
  leave_out_claimed_ahead(found, workers, limits_per_host(engine));
  if (std::cmp_less(limit, found.size())) found.erase(found.begin() + limit, found.end());
  return found;
}

std::string request_json(const RequestInFlight& request) {
  return JsonObject{}
      .text("id", request.id.text())
      .number("age_ms", request.age.count())
      .text("method", request.method)
      .text("host", std::string_view{request.host}.substr(0, longest_host))
      .text("worker", request.worker)
      .json("heartbeat_age_ms",
            request.heartbeat_age ? std::to_string(request.heartbeat_age->count()) : "")
      .str();
}

}  // namespace holdfast
