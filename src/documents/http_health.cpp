#include "documents/http_health.hpp"

#include <set>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/http/client.hpp>
#include <holdfast/payload.hpp>

#include "documents/json.hpp"
#include "recovery/time_text.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/figures.hpp"

namespace holdfast {

namespace {

/// Longer than anybody is silent who lives.
constexpr Millis told_within{10 * 60'000};

/// As processors name it; empty where the payload does not say.
std::string host_asked(const TaskRecord& task) {
  const auto json = parse_json(task.payload);
  const auto* object = json.if_object();
  const auto* url = object ? object->if_contains("url") : nullptr;
  if (!url || !url->is_string()) return {};
  try {
    return http::host_text(http::origin_of({url->get_string().data(), url->get_string().size()}));
  } catch (const InvalidRequest&) {
    return {};  // such a request fails, and is not waiting for a host
  }
}

}  // namespace

std::vector<http::LeftAlone> hosts_left_alone(const Engine& engine, WallTime now) {
  std::set<WorkerId> running;
  for (const auto& worker : Inspector{engine}.workers())
    if (worker.state == WorkerState::running) running.insert(worker.id);
  std::vector<http::Standing> standings;
  for (const auto& told : engine.parts().workers().figures(told_within)) {
    const auto figures = Figures::parse(told.figures);
    if (figures && running.contains(told.worker))
      standings.push_back(http::Standing::parse(figures->tells));
  }
  return http::left_alone_by_any(standings, now);
}

std::map<std::string, int> limits_per_host(const Engine& engine) {
  std::map<std::string, int> limits;
  for (const auto& told : engine.parts().workers().figures(told_within))
    if (const auto figures = Figures::parse(told.figures))
      if (const auto most = http::Standing::parse(figures->tells).per_host; most > 0)
        limits[told.worker.text()] = most;
  return limits;
}

std::string sentence_of(const http::LeftAlone& host) {
  constexpr std::size_t time_at = 11, time_size = 8;  // of 2026-03-01T12:30:15.000Z
  return fmt::format("{} is left alone until {} UTC: {} failure{} in a row ({})", host.host,
                     iso8601(host.until).substr(time_at, time_size), host.failures,
                     host.failures == 1 ? "" : "s", host.why);
}

std::string left_alone_json(const http::LeftAlone& host) {
  return JsonObject{}
      .text("host", host.host)
      .text("until", iso8601(host.until))
      .number("failures", host.failures)
      .text("why", host.why)
      .text("sentence", sentence_of(host))
      .str();
}

std::string explain_task(const Engine& engine, const TaskRecord& task) {
  auto explanation = Inspector{engine}.explain(task.id);
  if (task.kind != http::request_kind || task.state != TaskState::pending) return explanation;
  const auto asked = host_asked(task);
  for (const auto& host : hosts_left_alone(engine, engine.parts().clock().wall()))
    if (host.host == asked) explanation += fmt::format(" {}.", sentence_of(host));
  return explanation;
}

}  // namespace holdfast
