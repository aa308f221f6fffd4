#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "engines/sidekiq/processor_state.hpp"

namespace holdfast::http {

namespace {

constexpr std::size_t most_at_once = 100;
constexpr Millis first_pause{50};
constexpr Millis longest_pause{2'000};

/// What was asked for, instead of what was sent with secrets in it.
void hide(std::string& url, const std::string& sent, const std::string& asked) {
  if (!sent.empty() && url == sent) url = asked;
}

template <class Result>
void hide_secrets(Result& result, const std::string& sent, const std::string& asked) {
  hide(result.url, sent, asked);
  for (auto& url : result.redirects) hide(url, sent, asked);
}

}  // namespace

void SidekiqProcessor::State::put_on_desk(HeldPtr held) {
  {
    std::lock_guard lock{mutex_};
    held->ended = true;
    desk_.push_back(std::move(held));
  }
  changed_.notify_all();
}

void SidekiqProcessor::State::put_on_desk(AboutToSend request) {
  {
    std::lock_guard lock{mutex_};
    about_to_send_.push_back(std::move(request));
  }
  changed_.notify_all();
}

void SidekiqProcessor::State::work_at_desk(std::stop_token stop) {
  Millis pause{0};
  std::vector<HeldPtr> ended;
  while (true) {
    std::vector<AboutToSend> about_to_send;
    {
      std::unique_lock lock{mutex_};
      // What is there when it is told to stop is still done, unless Redis cannot be reached.
      changed_.wait_until(
          lock, stop, stuck_.empty() ? Steady::time_point::max() : stuck_until_,
          [&] { return !desk_.empty() || !ended.empty() || !about_to_send_.empty(); });
      if (pause > Millis{0}) changed_.wait_for(lock, stop, pause, [] { return false; });
      if (stop.stop_requested() && (pause > Millis{0} || (desk_.empty() && ended.empty()))) return;
      about_to_send = take_from_desk(ended);
    }
    announce(about_to_send);
    try {
      if (!ended.empty()) settle(ended);
      pause = Millis{0};
    } catch (const StoreError& error) {
      // The answers are kept until they can be delivered, or others have the requests.
      pause = std::clamp(pause * 2, first_pause, longest_pause);
      log_trouble(fmt::format("cannot settle {} requests yet: {}", ended.size(), error.what()));
    }
  }
}

std::vector<SidekiqProcessor::State::AboutToSend> SidekiqProcessor::State::take_from_desk(
    std::vector<HeldPtr>& ended) {
  while (!desk_.empty() && ended.size() < most_at_once) {
    ended.push_back(std::move(desk_.front()));
    desk_.pop_front();
  }
  while (!stuck_.empty() && ended.size() < most_at_once && Steady::now() >= stuck_until_) {
    ended.push_back(std::move(stuck_.front()));
    stuck_.pop_front();
  }
  std::vector<AboutToSend> requests;
  while (!about_to_send_.empty() && requests.size() < most_at_once) {
    // One that was broken off meanwhile was not sent, and nobody is to think so.
    if (!about_to_send_.front().held->ended) requests.push_back(std::move(about_to_send_.front()));
    about_to_send_.pop_front();
  }
  return requests;
}

void SidekiqProcessor::State::announce(const std::vector<AboutToSend>& requests) {
  if (requests.empty()) return;
  std::vector<sidekiq::Hold> holds;
  for (const auto& [held, ticket] : requests) holds.push_back(held->hold);
  std::vector<bool> noted(requests.size(), false);
  try {
    noted = registry_.begin_sending(holds);
  } catch (const StoreError& error) {
    log_trouble(fmt::format("{} requests go back: {}", requests.size(), error.what()));
  }
  std::lock_guard lock{mutex_};
  if (!loop_) return;
  for (std::size_t i = 0; i < requests.size(); ++i)
    noted[i] ? loop_->go_on(requests[i].ticket) : loop_->cancel(requests[i].ticket);
}

void SidekiqProcessor::State::settle(std::vector<HeldPtr>& ended) {
  std::vector<sidekiq::Settling> requests;
  for (auto& held : ended) {
    if (!held->ending) {
      if (auto* response = std::get_if<Response>(&held->answer.what))
        hide_secrets(*response, held->sent_url, held->job.request.url);
      if (auto* error = std::get_if<RequestError>(&held->answer.what))
        hide_secrets(*error, held->sent_url, held->job.request.url);
      held->ending = sidekiq::decide_ending(held->job, held->answer, held->origin, options_,
                                            *address_.dialect, std::chrono::system_clock::now());
    }
    requests.push_back(
        {held->hold, held->ending->effects, held->ending->totals, held->ending->took});
  }
  auto settled = registry_.settle(requests);
  std::vector<HeldPtr> gone;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    auto& held = ended[i];
    if (settled[i].done) {
      count(*held->ending, *held);
    } else if (!settled[i].trouble.empty()) {
      put_aside(std::move(held), settled[i].trouble);
      continue;
    } else {
      ++summary_.refused;
      log(Severity::warning,
          fmt::format("request {} was not delivered: another process has it", held->hold.id));
    }
    gone.push_back(std::move(held));
  }
  ended.clear();
  let_go(gone);
}

void SidekiqProcessor::State::put_aside(HeldPtr held, const std::string& trouble) {
  if (std::exchange(held->stuck, true)) {
    log_trouble(fmt::format("requests still cannot be settled: {}", trouble));
  } else {
    log(Severity::error,
        fmt::format("request {} cannot be settled yet: {}", held->hold.id, trouble));
  }
  stuck_.push_back(std::move(held));
  stuck_until_ = Steady::now() + longest_pause;
}

void SidekiqProcessor::State::count(const sidekiq::Ending& ending, const Held& held) {
  using sidekiq::EndKind;
  if (std::holds_alternative<Response>(held.answer.what)) ++summary_.answered;
  if (std::holds_alternative<RequestError>(held.answer.what)) ++summary_.errors;
  if (ending.back_in) expect_back(*ending.back_in);
  if (!ending.why.empty())
    log(Severity::error, fmt::format("request {} failed: {}", held.hold.id, ending.why));
  switch (ending.kind) {
    case EndKind::callback:
      ++summary_.callbacks;
      ++processed_;
      return;
    case EndKind::retried:
      ++summary_.retried;
      ++processed_;
      ++failed_;
      return;
    case EndKind::died:
    case EndKind::dropped:
      ++(ending.kind == EndKind::died ? summary_.died : summary_.discarded);
      ++processed_;
      ++failed_;
      return;
    case EndKind::given_back:
    case EndKind::postponed:
      ++summary_.given_back;
      return;
  }
}

void SidekiqProcessor::State::expect_back(double seconds) {
  auto then =
      Steady::now() + std::chrono::ceil<Steady::duration>(std::chrono::duration<double>{seconds});
  std::lock_guard lock{mutex_};
  last_back_ = std::max(last_back_, then);
}

/// All at once: whoever takes jobs is to find room for many, because each look costs Redis a sync.
void SidekiqProcessor::State::let_go(const std::vector<HeldPtr>& gone) {
  {
    std::lock_guard lock{mutex_};
    for (const auto& held : gone)
      if (held_.erase(held->hold.token) > 0) at_hosts_.went(held->host);
  }
  changed_.notify_all();
  watch_.interrupt();
}

}  // namespace holdfast::http
