#include <holdfast/http/processor.hpp>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "http/blob_trouble.hpp"
#include "http/descriptors.hpp"
#include "http/forget.hpp"
#include "http/phase.hpp"
#include "http/processor_state.hpp"
#include "recovery/kill_point.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::http {

namespace {

/// So many blobs are read at once, and so many written. The others wait for them in memory.
constexpr int threads_for_blobs = 8;

/// While it waited for a blob. Then it ends with that.
bool is_broken_off(OpenAttempt& attempt) {
  if (!attempt.stop_requested()) return false;
  attempt.end(retry("it was broken off"));
  return true;
}

}  // namespace

Processor::State::State(Engine engine, ProcessorOptions options)
    : engine_{engine},
      options_{(validate(options), std::move(options))},
      worker_{handlers(), worker_options()},
      // Of one attempt, which by letting go of it is tried again.
      desk_{[this](const auto& error) { tell_trouble("keeping the answer to a request", error); }},
      readers_{[this](const auto& error) { tell_trouble("reading a request", error); }},
      writers_{[this](const auto& error) { tell_trouble("keeping what is in blobs", error); }} {}

WorkerOptions Processor::State::worker_options() {
  auto queues = options_.queues;
  if (!queues.empty() && options_.payloads.blobs) queues.push_back(forget_queue);
  return {.queues = std::move(queues),
          .concurrency = options_.capacity,
          .until_empty = options_.until_empty,
          .tells = [this] {
            return Standing{std::string{to_string(state())}, options_.per_host, loop_->left_alone()}
                .text();
          }};
}

Tasks Processor::State::handlers() {
  Tasks tasks{engine_};
  tasks.on_async(request_kind, [this](const auto& attempt) { take(attempt); });
  if (!options_.payloads.blobs) return tasks;
  return tasks.on_async(forget_kind, [this](std::shared_ptr<OpenAttempt> attempt) {
    writers_.put([this, attempt] {
      try {
        forget(attempt->payload(), engine_, *options_.payloads.blobs);
        attempt->end(done);
      } catch (const PayloadRefused& error) {
        attempt->end(hold(error.what()));
      } catch (const UnfitPayload& error) {
        attempt->end(fail(error.what()));
      } catch (const BlobError& error) {
        tell_trouble("removing a blob", error);
        attempt->end(come_again(error));
      }
    });
  });
}

void Processor::State::begin_threads() {
  end_threads();  // those of a start that failed midway
  loop_ = std::make_unique<Loop>(options_);
  desk_.begin(1);
  if (!options_.payloads.blobs) return;
  pauses_.begin();
  readers_.begin(threads_for_blobs);
  writers_.begin(threads_for_blobs);
  sweeper_ = std::jthread{[this](std::stop_token stop) { sweep_blobs(std::move(stop)); }};
}

/// Whatever the worker gave up is broken off here, and then nobody is left who could end it. Each
/// after those who hand something to it.
void Processor::State::end_threads() {
  readers_.abandon();
  if (loop_) loop_->stop();
  desk_.finish();
  pauses_.end();
  writers_.abandon();
  sweeper_ = {};
}

ProcessorSummary Processor::State::run() {
  Lifecycle::Run run{life_};
  allow_descriptors_for(options_);
  begin_threads();
  run.started();
  ProcessorSummary summary;
  summary.tasks = worker_.run();
  end_threads();
  loop_.reset();
  summary.answered = answered_;
  summary.errors = errors_;
  return summary;
}

void Processor::State::take(const std::shared_ptr<OpenAttempt>& attempt) {
  begins_later(*attempt);
  if (!options_.payloads.blobs || blob_of(attempt->payload(), attempt->task()).empty())
    return begin(attempt);
  readers_.put([this, attempt] {
    try {
      if (!is_broken_off(*attempt)) begin(attempt);
    } catch (const BlobError& error) {
      tell_trouble("reading a request that is in a blob", error);
      attempt->end(come_again(error));
    } catch (const UnfitPayload& error) {
      attempt->end(fail(error.what()));
    } catch (const std::exception& error) {
      attempt->end(retry(error.what()));
    }
  });
}

void Processor::State::begin(std::shared_ptr<OpenAttempt> attempt) {
  auto held = std::make_shared<Held>();
  held->attempt = std::move(attempt);
  Unsealed unsealed;
  try {
    unsealed = unseal(held->attempt->payload(), owner_of(*held->attempt), options_.payloads);
  } catch (const PayloadRefused& error) {
    return held->attempt->end(hold(error.what()));
  }
  if (unsealed.unbound) unbound_.say(held->attempt->task());
  if (is_broken_off(*held->attempt)) return;
  held->blob = std::move(unsealed.blob);
  held->request = request_from_json(unsealed.document);
  std::optional<Job> job;
  try {
    job = job_for(held);
  } catch (const SecretUnreadable& error) {
    // It is there, so this is the processor's fault and may pass.
    return could_not_begin(*held->attempt, CannotBegin{error.what()});
  } catch (const InvalidRequest& error) {
    return refuse(held, error.what());
  }
  held->attempt->begun();
  std::lock_guard lock{held->mutex};
  ++in_flight_;
  auto ticket = loop_->perform(std::move(*job));
  held->on_stop.emplace(held->attempt->stop_token(), [this, ticket] { loop_->cancel(ticket); });
}

void Processor::State::refuse(const HeldPtr& held, const std::string& why) {
  RequestError error{.type = ErrorType::missing_secret,
                     .message = why,
                     .request_id = held->attempt->idempotency_key(),
                     .url = held->request.url,
                     .method = held->request.method,
                     .context = held->request.context};
  held->answer.what = std::move(error);
  desk_.put([this, held] {
    ++errors_;
    conclude(held);
  });
}

Job Processor::State::job_for(const HeldPtr& held) const {
  const Asker asker{.queue = [&] { return queue_of(*held->attempt); }};
  auto job = make_job(held->request, held->attempt->idempotency_key(), asker, options_);
  job.gives_way = true;
  auto* self = const_cast<State*>(this);
  job.done = [self, held](Answer answer) {
    held->answer = std::move(answer);
    kill_point(KillPoint::http_after_answer);
    self->desk_.put([self, held] { self->end(held); });
  };
  if (is_only_once(held->request))
    job.about_to_send = [self, held](Ticket ticket) {
      self->desk_.put([self, held, ticket] { self->announce(*held, ticket); });
    };
  return job;
}

void Processor::State::rest() {
  life_.rest();
  worker_.rest();
}

void Processor::State::quiet() {
  life_.end();
  worker_.drain();
}

void Processor::State::stop() {
  life_.end();
  worker_.hurry();
}

Processor::Processor(Engine engine, ProcessorOptions options)
    : impl_{std::make_shared<State>(std::move(engine), std::move(options))} {}
Processor::~Processor() = default;
ProcessorSummary Processor::run() { return impl_->run(); }
void Processor::rest() { impl_->rest(); }
void Processor::quiet() { impl_->quiet(); }
void Processor::stop() { impl_->stop(); }
ProcessorState Processor::state() const { return impl_->state(); }
int Processor::in_flight() const { return impl_->in_flight(); }

}  // namespace holdfast::http
