#include "server/hub.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "documents/redact.hpp"
#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_events = 2'000;
constexpr std::size_t most_bytes = 4 * 1024 * 1024;
/// A client that takes nothing does not make us copy more than this for it.
constexpr std::size_t bytes_at_once = 256 * 1024;

}  // namespace

Hub::Hub() : run_{random_secret().substr(0, 8)} {}

void Hub::on_news(std::function<void()> callback) {
  std::lock_guard lock{mutex_};
  on_news_ = std::move(callback);
}

void Hub::publish(std::string_view type, std::string_view data, bool standing) {
  std::function<void()> tell;
  const auto shown = redact_document(data).text;
  {
    std::lock_guard lock{mutex_};
    tell = on_news_;
    ++last_;
    Event event{last_, fmt::format("id: {}-{}\nevent: {}\ndata: {}\n\n", run_, last_, type, shown)};
    bytes_ += event.text.size();
    events_.push_back(std::move(event));
    if (standing) standing_[std::string{type}] = shown;
    while (events_.size() > most_events || (bytes_ > most_bytes && events_.size() > 1)) {
      bytes_ -= events_.front().text.size();
      events_.pop_front();
    }
  }
  if (tell) tell();
}

std::string Hub::reset() const {
  std::string text = fmt::format("id: {}-{}\nevent: reset\ndata: {{}}\n\n", run_, last_);
  return text;
}

std::shared_ptr<Subscription> Hub::subscribe(std::string_view last_id) {
  std::lock_guard lock{mutex_};
  std::string first = "retry: 2000\n\n";
  std::uint64_t next = last_ + 1;
  const auto dash = last_id.find('-');
  std::uint64_t seen = 0;
  const bool ours =
      dash != last_id.npos && last_id.substr(0, dash) == run_ &&
      std::from_chars(last_id.data() + dash + 1, last_id.data() + last_id.size(), seen).ec ==
          std::errc{} &&
      seen <= last_;
  const auto oldest = events_.empty() ? last_ + 1 : events_.front().number;
  if (ours && seen + 1 >= oldest) {
    next = seen + 1;
  } else {
    if (!last_id.empty()) first += reset();
    for (const auto& [type, data] : standing_)
      first += fmt::format("id: {}-{}\nevent: {}\ndata: {}\n\n", run_, last_, type, data);
  }
  return std::make_shared<Subscription>(shared_from_this(), std::move(first), next);
}

std::string Hub::after(std::uint64_t& next) const {
  std::lock_guard lock{mutex_};
  if (next > last_) return {};
  const auto oldest = events_.front().number;
  if (next < oldest) {
    next = last_ + 1;
    return reset();
  }
  std::string text;
  for (auto at = static_cast<std::ptrdiff_t>(next - oldest);
       at < std::ssize(events_) && text.size() < bytes_at_once; ++at) {
    text += events_[static_cast<std::size_t>(at)].text;
    ++next;
  }
  return text;
}

Subscription::Subscription(std::shared_ptr<Hub> hub, std::string first, std::uint64_t next)
    : hub_{std::move(hub)}, first_{std::move(first)}, next_{next} {
  ++hub_->clients_;
}

Subscription::~Subscription() { --hub_->clients_; }

std::string Subscription::take() {
  if (!first_.empty()) return std::exchange(first_, {});
  return hub_->after(next_);
}

}  // namespace holdfast::server
