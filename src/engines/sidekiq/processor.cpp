#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sidekiq/jobs.hpp"
#include "engines/sidekiq/processor_state.hpp"
#include "engines/sidekiq/ruby_json.hpp"
#include "http/descriptors.hpp"
#include "http/phase.hpp"
#include "recovery/kill_point.hpp"
#include "recovery/plain_text.hpp"
#include "recovery/roster.hpp"
#include "recovery/time_text.hpp"

namespace holdfast::http {

namespace {

constexpr Millis look_again{5'000};
constexpr Millis trouble_pause{500};
constexpr int looks_until_nobody_is_dead = 3;

SidekiqOptions completed(SidekiqOptions options) {
  validate(options);
  auto& processor = options.processor;
  if (processor.queues.empty()) processor.queues = {"default"};
  // The gem's applications expect to hear at once that a host is down.
  if (!processor.breaker.patience) processor.breaker.patience = Millis{0};
  if (!options.log) options.log = [](Severity, const std::string&) {};
  return options;
}

sidekiq::RegistryOptions registry_options(const SidekiqOptions& options) {
  auto host = host_name();
  std::ranges::replace_if(
      host, [](char c) { return c == ':' || c == '/'; }, '-');
  return {.process = fmt::format("{}:{}:{}", host, ::getpid(), sidekiq::random_hex(16)),
          .queues = options.processor.queues,
          .capacity = options.processor.capacity,
          .heartbeat_interval = options.heartbeat_interval,
          .orphan_threshold = options.orphan_threshold};
}

sidekiq::RecoveryOptions recovery_options(const SidekiqOptions& options,
                                          const sidekiq::RegistryOptions& registry) {
  return {.process = registry.process,
          .heartbeat_interval = options.heartbeat_interval,
          .orphan_threshold = options.orphan_threshold,
          .ttl_seconds = registry.ttl_seconds(),
          .max_recoveries = options.max_recoveries};
}

}  // namespace

SidekiqProcessor::State::State(std::string_view address, SidekiqOptions options)
    : options_{completed(std::move(options))},
      address_{sidekiq::parse_address(address)},
      server_{address_.redis},
      registry_{server_, *address_.dialect, registry_options(options_)},
      recovery_{server_, *address_.dialect, recovery_options(options_, registry_.options()),
                options_.log},
      lives_{server_, *address_.dialect, registry_.options().process},
      presence_{server_, options_.processor.capacity, options_.processor.queues},
      watch_{server_, options_.processor.queues},
      at_hosts_{options_.processor.capacity, options_.processor.per_host} {
  check_server();
}

void SidekiqProcessor::State::log(Severity severity, const std::string& sentence) {
  options_.log(severity, sentence);
}

void SidekiqProcessor::State::log_trouble(const std::string& sentence) {
  if (auto kept_back = patient_.say(sentence))
    log(Severity::warning, sentence + kept_back_text(*kept_back));
}

SidekiqSummary SidekiqProcessor::State::run() {
  Lifecycle::Run run{life_};
  allow_descriptors_for(options_.processor);
  registry_.beat({});
  lives_.keep();
  loop_ = std::make_unique<Loop>(options_.processor, options_.processor.capacity);
  desk_thread_ = std::jthread{[this](std::stop_token stop) { work_at_desk(std::move(stop)); }};
  monitor_thread_ = std::jthread{[this](std::stop_token stop) { monitor(std::move(stop)); }};
  run.started();
  take_jobs();
  wind_down();
  if (is_hopeless())
    throw CannotBegin{fmt::format("no request could be begun for {}: {}",
                                  duration_text(KindBreaker::patience), standing().trouble)};
  summary_.recovered = recovered_;
  summary_.died += unreadable_;
  return summary_;
}

void SidekiqProcessor::State::take_jobs() {
  bool found = false;
  while (!life_.ends() && !is_hopeless()) {
    bool trouble = false, looked = true;
    const auto back = all_back();
    try {
      auto look = life_.rests() ? Look::nothing : take_some();
      found = found || look == Look::found;
      looked = look != Look::not_now;
      if (look == Look::found || look == Look::not_at_the_end) continue;
    } catch (const StoreError& error) {
      trouble = an_answer_was_lost_ = true;
      log_trouble(fmt::format("cannot take requests: {}", error.what()));
    }
    if (options_.processor.until_empty && !trouble && looked && nothing_is_left(back)) return;
    auto wait = trouble || options_.processor.until_empty ? trouble_pause : look_again;
    if (auto rest = registry_.rests_for(); rest > Millis{0}) wait = std::min(wait, rest);
    if (auto next = next_try()) wait = std::min(wait, *next);
    watch_.wait(wait, std::exchange(found, false));
  }
}

SidekiqProcessor::State::Look SidekiqProcessor::State::take_some() {
  if (an_answer_was_lost_) {
    for (const auto& id : registry_.put_back_strays(holds()))
      log(Severity::info, fmt::format("request {} went back to its queue: it was taken, and the "
                                      "server's answer was lost",
                                      id));
    an_answer_was_lost_ = false;
  }
  auto in_hand = [this] {
    std::lock_guard lock{mutex_};
    return at_hosts_;
  }();
  auto room = options_.processor.capacity - in_hand.in_flight();
  if (room <= 0) return Look::nothing;
  room = room_to_begin(std::min(room, 500));
  if (room == 0) return Look::not_now;
  auto jobs = registry_.take(room, in_hand);
  tried(!jobs.empty());
  for (const auto& [queue, jid] : registry_.buried()) {
    ++unreadable_;
    log(Severity::error, fmt::format("job {} of queue {} is not valid JSON, and is in the dead set "
                                     "as it came",
                                     jid.empty() ? "without a jid" : jid, queue));
  }
  for (const auto& [queue, why] : registry_.refusals())
    log_trouble(fmt::format("cannot take requests from queue {}: {}", queue, why));
  for (auto& job : jobs) begin(std::move(job));
  if (!jobs.empty()) return Look::found;
  return registry_.saw_everything() ? Look::nothing : Look::not_at_the_end;
}

/// What was put off was back before the last look, and nothing was put off since.
bool SidekiqProcessor::State::nothing_is_left(const std::optional<Steady::time_point>& back) {
  return in_flight() == 0 && back && all_back() == back && looks_ >= looks_until_nobody_is_dead &&
         registry_.saw_everything() && !registry_.left_some();
}

std::optional<SidekiqProcessor::State::Steady::time_point> SidekiqProcessor::State::all_back()
    const {
  std::lock_guard lock{mutex_};
  if (put_back_until_ < last_back_) return {};
  return last_back_;
}

void SidekiqProcessor::State::begin(sidekiq::TakenJob taken) {
  auto held = std::make_shared<Held>();
  held->hold = std::move(taken.hold);
  held->origin = {std::move(taken.queue), std::move(taken.text)};
  held->host = std::move(taken.host);
  {
    std::lock_guard lock{mutex_};
    held_[held->hold.token] = held;
    at_hosts_.came(held->host);
  }
  try {
    read(*held);
    auto job = job_for(held);
    has_begun();
    std::lock_guard lock{mutex_};
    held->ticket = loop_->perform(std::move(job));
  } catch (const SecretUnreadable& error) {
    could_not_begin(*held, error.what());
    put_on_desk(held);
  } catch (const InvalidRequest& error) {
    held->ending = held->job.job.empty()
                       ? sidekiq::bury(held->origin, error.what())
                       : sidekiq::decide_failure(held->job.job, "ArgumentError", error.what(),
                                                 std::chrono::system_clock::now());
    put_on_desk(held);
  } catch (const StoreError& error) {
    log(Severity::warning, fmt::format("request {} goes back: {}", held->hold.id, error.what()));
    held->ending = sidekiq::give_back(held->origin);
    put_on_desk(held);
  }
}

void SidekiqProcessor::State::read(Held& held) {
  auto job = sidekiq::parse_job(held.origin.text);
  job.emplace("queue", held.origin.queue);
  if (!is_utf8(held.origin.text)) held.origin.text = sidekiq::ruby_text(job);
  held.job.job = job;
  std::string payload;
  if (auto reference = sidekiq::payload_reference(job)) {
    held.origin.payload_key = std::string{address_.dialect->payloads} + *reference;
    payload = server_.call({"GET", held.origin.payload_key}).string();
    if (payload.empty())
      throw InvalidRequest{fmt::format(
          "the request is kept apart from its job, and there is nothing at {}; only the "
          "gem's Redis store can be read",
          held.origin.payload_key)};
  }
  held.job = sidekiq::read_request_job(std::move(job), payload);
  held.job.request.on_ambiguous = options_.on_ambiguous;
}

Job SidekiqProcessor::State::job_for(const HeldPtr& held) {
  const auto* type = held->job.job.if_contains("class");
  const Asker asker{.queue = [&] { return held->origin.queue; },
                    .kind = std::string{type && type->is_string() ? type->get_string() : ""},
                    .secret_params = held->job.secret_params,
                    .unbound_secrets = !options_.require_bound_secrets};
  auto job = make_job(held->job.request, held->job.id, asker, options_.processor);
  if (!asker.secret_params.empty()) held->sent_url = job.request.url;
  job.gives_way = true;
  job.done = [this, held](Answer answer) {
    held->answer = std::move(answer);
    kill_point(KillPoint::http_after_answer);
    put_on_desk(held);
  };
  if (is_only_once(job.request))
    job.about_to_send = [this, held](Ticket ticket) { put_on_desk(AboutToSend{held, ticket}); };
  return job;
}

void SidekiqProcessor::State::wind_down() {
  life_.end();
  auto until = Steady::now() + options_.shutdown_timeout;
  std::vector<Loop::Ticket> tickets;
  {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, until, [&] { return held_.empty() || at_once_; });
    for (const auto& [token, held] : held_) tickets.push_back(held->ticket);
  }
  loop_->cancel(tickets);
  {
    // As long as Redis can be reached, this is soon. If not, others recover what is left.
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, options_.shutdown_timeout, [&] { return held_.empty(); });
  }
  std::unique_ptr<Loop> loop;
  {
    std::lock_guard lock{mutex_};
    loop = std::move(loop_);
  }
  loop.reset();
  desk_thread_ = {};
  monitor_thread_ = {};
  try {
    be_seen();
    presence_.leave();
    if (in_flight() == 0) registry_.leave();
  } catch (const StoreError& error) {
    log(Severity::warning, fmt::format("could not say goodbye: {}", error.what()));
  }
}

int SidekiqProcessor::State::in_flight() const {
  std::lock_guard lock{mutex_};
  return at_hosts_.in_flight();
}

void SidekiqProcessor::State::rest() {
  life_.rest();
  watch_.interrupt();
}

void SidekiqProcessor::State::quiet() {
  life_.end();
  watch_.interrupt();
}

void SidekiqProcessor::State::stop() {
  {
    std::lock_guard lock{mutex_};
    at_once_ = true;
  }
  changed_.notify_all();
  quiet();
}

SidekiqProcessor::SidekiqProcessor(std::string_view address, SidekiqOptions options)
    : impl_{std::make_unique<State>(address, std::move(options))} {}
SidekiqProcessor::~SidekiqProcessor() = default;
SidekiqSummary SidekiqProcessor::run() { return impl_->run(); }
void SidekiqProcessor::rest() { impl_->rest(); }
void SidekiqProcessor::quiet() { impl_->quiet(); }
void SidekiqProcessor::stop() { impl_->stop(); }
ProcessorState SidekiqProcessor::state() const { return impl_->state(); }
int SidekiqProcessor::in_flight() const { return impl_->in_flight(); }

}  // namespace holdfast::http
