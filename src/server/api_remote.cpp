#include <algorithm>

#include <fmt/format.h>

#include "documents/json.hpp"
#include "recovery/clock.hpp"
#include "server/buckets.hpp"
#include "server/fields.hpp"
#include "server/limiting_token.hpp"
#include "server/page.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "server/task_filter.hpp"
#include "server/unsealing.hpp"
#include "tasks/json_text.hpp"
#include "tasks/names.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t changes_at_once = 100;
constexpr std::int64_t longest_wait_ms = 30'000;
constexpr std::int64_t longest_delay_ms = 10LL * 365 * 24 * 3'600 * 1'000;
/// Of payloads, an answer to a claim has so many bytes, and one task at the least.
constexpr std::size_t most_claimed_bytes = 4 * most_page_bytes;
constexpr int claimed_at_once = 16;
/// How often a claim that waits is tried again.
constexpr Millis look_again{100};

WorkerId worker_id(const Request& request) {
  if (const auto id = WorkerId::parse(request.place("worker"))) return *id;
  throw invalid(fmt::format("'{}' is not the id of a worker", request.place("worker")));
}

WorkerPass pass_of(const Request& request) {
  return {.worker = worker_id(request),
          .credential = credential_of(request.caller),
          .secret = std::string{request.header("holdfast-worker-secret")}};
}

/// Throws unless the token of a program is for all that the worker would claim.
void expect_allowed(const Request& request, const WorkerProfile& profile) {
  const auto* token = limiting_token(request.caller);
  if (!token) return;
  for (const auto& kind : profile.kinds)
    if (!token->allows_kind(kind)) throw not_allowed(*token, "kind", kind);
  for (const auto& queue : profile.queues)
    if (!token->allows_queue(queue)) throw not_allowed(*token, "queue", queue);
  if (profile.queues.empty() && !token->queues.empty())
    throw Problem{403, "forbidden",
                  fmt::format("the token '{}' is for some queues only; name those that the worker "
                              "is to claim from in queues",
                              token->name)};
}

/// A worker that names no queue gets those of its token, where these are names.
std::vector<std::string> queues_for(const Request& request, std::vector<std::string> asked) {
  const auto* token = limiting_token(request.caller);
  if (!token || !asked.empty()) return asked;
  const bool names = std::ranges::none_of(
      token->queues, [](const std::string& queue) { return queue.ends_with('*'); });
  return names ? token->queues : asked;
}

Response enlist(Enlisters& enlisters, WatchedStore& store, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"kinds", "queues", "concurrency"});
  const auto& heartbeat = store.engine.settings().heartbeat;
  WorkerProfile profile{
      .queues = queues_for(request, fields.texts("queues")),
      .kinds = fields.texts("kinds"),
      .concurrency = static_cast<int>(fields.number("concurrency", 1, 1'000).value_or(1)),
      .lease = heartbeat.lease(),
      .heartbeat = heartbeat.interval};
  if (profile.kinds.empty()) throw invalid("kinds is empty; which kinds of tasks can it run?");
  for (const auto& kind : profile.kinds) {
    check_name("kind", kind, longest_name);
    check_not_reserved("kind", kind);
  }
  for (const auto& queue : profile.queues) check_name("queue", queue, longest_name);
  expect_allowed(request, profile);
  const auto pass = store.remote.enlist(profile, credential_of(request.caller));
  enlisters.add(pass.worker, actor(request));
  auto response = json_response(JsonObject{}
                                    .text("worker", pass.worker.text())
                                    .text("secret", pass.secret)
                                    .number("heartbeat_interval_ms", profile.heartbeat.count())
                                    .number("lease_ms", profile.lease.count())
                                    .str(),
                                201);
  response.for_audit = Enlisters::outcome(pass.worker);
  return response;
}

/// Each is in the audit log, whatever comes of it, and a program may ask in a loop. A fleet that
/// starts again has room.
void check_enlistings(Buckets& enlistings, const Request& request) {
  constexpr Rate rate{.tasks = 20, .period = std::chrono::minutes{1}, .burst = 1'000};
  const auto wait =
      enlistings.take(credential_of(request.caller), rate, 1, system_clock().steady());
  if (wait > Millis{0})
    throw wait_for("rate_limited",
                   fmt::format("this credential enlisted {} workers and may enlist {} more a "
                               "minute; keep workers for longer, or enlist fewer with more slots "
                               "each",
                               rate.burst, rate.tasks),
                   wait);
}

std::string claimed_json(const Claimed& task) {
  return JsonObject{}
      .text("id", task.lease.id.text())
      .number("token", task.lease.token.value)
      .text("kind", task.kind)
      .text("queue", task.queue)
      .json("payload", json_line(task.payload))
      .number("attempt", task.attempt)
      .number("max_attempts", task.max_attempts)
      .number("timeout_ms", task.timeout.count())
      .text("idempotency_key", task.lease.id.text())
      .str();
}

/// What a worker is given in one answer. How large tasks are is known when they are claimed and
/// opened, so what does not fit any more goes back, uncharged, before the worker hears of it.
class Handout {
 public:
  Handout(Unsealing& unsealing, Events& events) : unsealing_{unsealing}, events_{events} {}

  void add(Claimed task) {
    RemoteEnd end{.id = task.lease.id, .token = task.lease.token};
    end.give_back = full_;
    if (!full_) {
      if (auto instead = unsealing_.open(task, events_)) {
        end.outcome = *std::move(instead);
      } else if (!given_.empty() && bytes_ + task.payload.size() > most_claimed_bytes) {
        end.give_back = full_ = true;
      } else {
        bytes_ += task.payload.size();
        given_.push_back(std::move(task));
        return;
      }
    }
    not_given_.push_back(std::move(end));
  }
  bool full() const { return full_ || bytes_ >= most_claimed_bytes; }
  std::vector<Claimed> take() { return std::move(given_); }
  const std::vector<RemoteEnd>& not_given() const { return not_given_; }

 private:
  Unsealing& unsealing_;
  Events& events_;
  std::vector<Claimed> given_{};
  std::vector<RemoteEnd> not_given_{};
  std::size_t bytes_ = 0;
  bool full_ = false;
};

/// A few at a time, so that not everything is in memory that is too much for the answer.
std::vector<Claimed> claim_some(WatchedStore& store, const WorkerPass& pass, int limit,
                                bool only_if_due, Unsealing& unsealing) {
  Handout handout{unsealing, store.engine.events()};
  for (int left = limit; left > 0 && !handout.full();) {
    const int wanted = std::min(left, claimed_at_once);
    auto some = store.remote.claim(pass, wanted, only_if_due);
    const bool is_all = std::ssize(some) < wanted;
    for (auto& task : some) handout.add(std::move(task));
    if (is_all) break;
    left -= wanted;
  }
  if (!handout.not_given().empty()) store.remote.settle(pass, handout.not_given());
  return handout.take();
}

Response claim(WatchedStore& store, Unsealing& unsealing, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"limit", "wait_ms"});
  const auto limit = static_cast<int>(fields.number("limit", 1, changes_at_once).value_or(1));
  const Millis wait{fields.number("wait_ms", 0, longest_wait_ms).value_or(0)};
  const auto waited = system_clock().steady() - request.since;
  const auto pass = pass_of(request);
  expect_allowed(request, store.remote.profile(pass));
  const auto claimed = claim_some(store, pass, limit, waited > look_again, unsealing);
  if (claimed.empty() && waited < wait) {
    Response later;
    later.again_in = std::min(look_again, wait - waited);
    return later;
  }
  std::vector<std::string> documents;
  for (const auto& task : claimed) documents.push_back(claimed_json(task));
  return json_response(JsonObject{}.json("tasks", json_list(documents)).str());
}

Response heartbeat(WatchedStore& store, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"tasks"});
  if (!fields.has("tasks")) throw invalid("tasks is missing: which tasks does it hold?");
  std::vector<std::string> stop;
  for (const auto& id : store.remote.heartbeat(pass_of(request), task_ids(fields.texts("tasks"))))
    stop.push_back(id.text());
  return json_response(JsonObject{}.json("stop", json_array(stop)).str());
}

RemoteEnd end_of(const Fields& fields) {
  fields.only({"id", "token", "outcome", "result", "error", "cause", "delay_ms"});
  RemoteEnd end{.id = task_id(fields.required_text("id")),
                .token = Token{fields.required_number("token", 0, INT64_MAX)}};
  const auto outcome = fields.required_text("outcome");
  const auto error = fields.text("error").value_or("");
  std::optional<Millis> delay;
  if (const auto given = fields.number("delay_ms", 0, longest_delay_ms)) delay = Millis{*given};
  if (outcome == "done")
    end.outcome = Done{.text = std::string{fields.raw("result").value_or("")}};
  else if (outcome == "retry")
    end.outcome = Retry{error, delay};
  else if (outcome == "fail")
    end.outcome = Fail{error};
  else if (outcome == "snooze")
    end.outcome = Snooze{delay.value_or(Millis{1'000})};
  else if (outcome == "hold")
    end.outcome = Hold{fields.required_text("cause")};
  else if (outcome == "give_back")
    end.give_back = true;
  else
    throw invalid(fmt::format("outcome is '{}'; it is done, retry, fail, snooze, hold or give_back",
                              outcome));
  return end;
}

std::string_view to_string(Settled settled) {
  if (settled == Settled::accepted) return "accepted";
  return settled == Settled::repeated ? "repeated" : "refused";
}

Response settle(WatchedStore& store, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"settlements"});
  std::vector<RemoteEnd> ends;
  for (const auto& each : fields.objects("settlements", changes_at_once))
    ends.push_back(end_of(each));
  const auto answers = store.remote.settle(pass_of(request), ends);
  std::vector<std::string> documents;
  for (std::size_t i = 0; i < ends.size(); ++i)
    documents.push_back(
        JsonObject{}.text("id", ends[i].id.text()).text("answer", to_string(answers[i])).str());
  return json_response(JsonObject{}.json("settled", json_list(documents)).str());
}

Note note_of(const Fields& fields) {
  fields.only({"id", "token", "progress", "text", "log"});
  Note note{.lease = {task_id(fields.required_text("id")),
                      Token{fields.required_number("token", 0, INT64_MAX)}},
            .what = ProgressNote{}};
  const auto progress = fields.fraction("progress");
  const auto log = fields.text("log");
  if (progress.has_value() == log.has_value()) throw invalid("a note has either progress or log");
  if (log)
    note.what = LogNote{.line = *log};
  else
    note.what = ProgressNote{std::clamp(*progress, 0.0, 1.0), fields.text("text").value_or("")};
  return note;
}

Response note(WatchedStore& store, const Request& request) {
  const auto fields = Fields::of_body(request.body);
  fields.only({"notes"});
  std::vector<Note> notes;
  for (const auto& each : fields.objects("notes", changes_at_once)) notes.push_back(note_of(each));
  std::vector<std::string> accepted;
  for (const bool each : store.remote.note(pass_of(request), notes))
    accepted.emplace_back(each ? "true" : "false");
  return json_response(JsonObject{}.json("accepted", json_list(accepted)).str());
}

Response retire(WatchedStore& store, const Request& request) {
  Fields::of_body(request.body).only({});
  store.remote.retire(pass_of(request));
  return no_content();
}

}  // namespace

void add_remote_routes(Routes& routes, Service& service) {
  using Handler = std::function<Response(WatchedStore&, const Request&)>;
  auto add = [&](const char* path, Handler handler, std::size_t largest = small_body) {
    routes.add({.method = "POST",
                .pattern = path,
                .access = Access::work,
                .handler =
                    [&service, handler = std::move(handler)](const Request& request) {
                      request.query.only({"store"});
                      return handler(service.store(request), request);
                    },
                .largest_body = largest});
  };
  // Audited, because histories of tasks name the worker, and this says whose it is.
  routes.add({.method = "POST",
              .pattern = Enlisters::path,
              .access = Access::work,
              .handler =
                  [&service](const Request& request) {
                    request.query.only({"store"});
                    return enlist(service.enlisters(), service.store(request), request);
                  },
              .audited = true,
              .brake = [enlistings = std::make_shared<Buckets>()](
                           const Request& request) { check_enlistings(*enlistings, request); }});
  add("/v1/remote/workers/{worker}/claim",
      [unsealing = std::make_shared<Unsealing>(service.options().payloads)](
          WatchedStore& store, const Request& request) {
        return claim(store, *unsealing, request);
      });
  add("/v1/remote/workers/{worker}/heartbeat", heartbeat);
  add("/v1/remote/workers/{worker}/settle", settle, large_body);
  add("/v1/remote/workers/{worker}/note", note);
  add("/v1/remote/workers/{worker}/retire", retire);
}

}  // namespace holdfast::server
