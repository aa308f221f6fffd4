#include "cli/http_print.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>

#include <fmt/format.h>

#include <holdfast/error.hpp>
#include <holdfast/http/response.hpp>
#include <holdfast/tasks.hpp>

#include "cli/interrupts.hpp"
#include "documents/json.hpp"
#include "http/forget.hpp"
#include "http/performance.hpp"
#include "http/phase.hpp"
#include "recovery/plain_text.hpp"
#include "recovery/time_text.hpp"
#include "tasks/engine_parts.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::cli {

namespace {

/// A request that must not be sent twice, in the store while it is performed here. Whatever becomes
/// of this process, everybody knows then that it may have been sent.
class HeldMeanwhile {
 public:
  HeldMeanwhile(Engine engine, const NewTask& task, std::shared_ptr<BlobStore> blobs)
      : engine_{std::move(engine)}, blobs_{std::move(blobs)} {
    auto& parts = engine_.parts();
    validate_own(task, engine_.settings());
    require_writable(parts);
    require_not_moved(parts);
    id_ = *task.options.id;
    const std::array parcels{parcel_of(task)};
    parts.transfer().adopt(parcels);
  }

  /// It is known how it ended, and whoever asked for it hears of it.
  void forget() {
    const std::array ids{id_};
    try {
      engine_.parts().transfer().forget(ids);
      if (blobs_) blobs_->remove(http::blob_key(engine_, id_));
    } catch (const Error& error) {
      throw Error{fmt::format("it is held as task {}, although it is known how it ended: {}",
                              id_.text(), error.what())};
    }
  }

 private:
  static Parcel parcel_of(const NewTask& task) {
    Parcel parcel;
    parcel.backoff = task.options.backoff;
    auto& record = parcel.task;
    record.id = *task.options.id;
    record.kind = task.kind;
    record.queue = task.options.queue;
    record.state = TaskState::held;
    record.priority = task.options.priority;
    record.payload = task.payload;
    record.max_attempts = task.options.max_attempts;
    record.timeout = task.options.timeout;
    record.created_at = record.run_at = wall_now();
    record.cause = fmt::format(
        "It was to be performed and printed by process {}. Until that says how it ended, it may "
        "have been sent, and is not sent again by itself. 'holdfast task retry' sends it again.",
        ::getpid());
    return parcel;
  }

  Engine engine_;
  std::shared_ptr<BlobStore> blobs_;
  TaskId id_{};
};

/// What only a request that waits in the store, or a callback, has a use for.
void check_use(const PrintedRequest& printed) {
  if (!printed.call.callback.empty())
    throw InvalidRequest{"an answer is either printed or given to a callback, not both"};
  if (!printed.call.context.is_null())
    throw InvalidRequest{"--context is for a callback, and an answer that is printed has none"};
  const auto& task = printed.client.task;
  const TaskOptions usual;
  const bool waits = printed.call.on_ambiguous == http::OnAmbiguous::hold;
  const std::array<std::pair<const char*, bool>, 6> useless{{
      {"--delay", task.delay != usual.delay},
      {"--unique", task.unique_key != usual.unique_key},
      {"--limit-key", task.limit_key != usual.limit_key},
      {"--tag", task.tags != usual.tags},
      // Of the one that is held, for when an operator sends it again.
      {"--queue", !waits && task.queue != usual.queue},
      {"--priority", !waits && task.priority != usual.priority},
  }};
  for (const auto& [option, given] : useless)
    if (given)
      throw InvalidRequest{fmt::format(
          "{} is for requests that wait in the store; what --print performs is sent now", option)};
}

Exit print_response(const Context& context, const http::Response& response) {
  if (context.json) {
    context.print_json(json_line(boost::json::serialize(to_json(response))));
  } else {
    if (!context.quiet) fmt::print(stderr, "{} {}\n", response.status, plain(response.url));
    // Into a file or a pipe as it came; a terminal gets what cannot steer it.
    if (context.out.interactive)
      context.say(response.body);
    else
      std::fwrite(response.body.data(), 1, response.body.size(), stdout);
  }
  std::fflush(stdout);
  return response.success() ? Exit::ok : Exit::refused;
}

/// For a request that was not answered.
[[noreturn]] void complain_of(const http::Performed& performed, TaskId id, bool held) {
  if (const auto* fail = std::get_if<Fail>(&performed.outcome)) throw InvalidRequest{fail->reason};
  if (const auto* hold = std::get_if<Hold>(&performed.outcome))
    throw InvalidRequest{fmt::format("{} It is held as task {}.", hold->cause, id.text())};
  const auto* retry = std::get_if<Retry>(&performed.outcome);
  if (retry && !std::holds_alternative<http::Cancelled>(performed.answer.what))
    throw Interrupted{fmt::format("interrupted before it was tried again: {}", retry->reason)};
  if (!performed.answer.maybe_sent) throw Interrupted{"interrupted; the request was not sent"};
  throw Interrupted{
      fmt::format("interrupted; the request may have been sent, and its answer is "
                  "not known{}",
                  held ? fmt::format("; it is held as task {}", id.text()) : "")};
}

bool is_known(const http::Performed& performed) {
  if (std::holds_alternative<Hold>(performed.outcome)) return false;
  return !std::holds_alternative<http::Cancelled>(performed.answer.what) ||
         !performed.answer.maybe_sent;
}

}  // namespace

Exit perform_and_print(Context& context, const PrintedRequest& printed) {
  check_use(printed);
  http::ProcessorOptions options;
  apply(printed.egress, context, options);
  Interrupts interrupts;
  const auto engine = context.engine();
  const http::Client client{engine, printed.client};
  const auto request = client.build(printed.method, printed.url, printed.call);
  const auto id = TaskId::make();
  const http::Asker asker{.queue = [&] { return printed.client.task.queue; }};
  http::Performance performance{request, id.text(), asker, printed.client.persistence, options};
  std::optional<HeldMeanwhile> held;
  if (http::is_only_once(request))
    held.emplace(engine, client.task_for(request, id), printed.client.payloads.blobs);
  std::stop_source stop;
  const InterruptWatch watch{interrupts, [&](int count) {
                               // A name that is being resolved cannot be broken off. Twice is no
                               // impatience: timeout(1) tells the process and its group.
                               if (count > 2) ::_exit(static_cast<int>(Exit::interrupted));
                               stop.request_stop();
                             }};
  const auto performed =
      performance.run(stop.get_token(), [&](const std::string& why, Millis wait) {
        if (!context.quiet)
          fmt::print(stderr, "holdfast: {}; trying again in {}\n", plain(why), duration_text(wait));
      });
  const bool answered = std::holds_alternative<Done>(performed.outcome);
  auto ended = Exit::ok;
  if (answered) ended = print_response(context, std::get<http::Response>(performed.answer.what));
  if (held && is_known(performed)) held->forget();
  if (!answered) complain_of(performed, id, held.has_value());
  return ended;
}

}  // namespace holdfast::cli
