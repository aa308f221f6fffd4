// Who waits for a place at a host, and for how long.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "http/loop.hpp"

namespace holdfast::http {

namespace {

constexpr Millis between_looks{1'000};

}  // namespace

void Loop::enter(Ticket ticket) {
  if (enter_now(ticket)) return;
  auto& running = running_.at(ticket);
  running.in_line = true;
  running.joined = now();
  lines_.join(running.transfer->origin(), ticket);
  shorten_line(running.transfer->origin());
}

bool Loop::enter_now(Ticket ticket) {
  auto& running = running_.at(ticket);
  const auto& transfer = *running.transfer;
  const auto entry = hosts_.enter(transfer.origin(), now());
  if (entry == Hosts::Entry::wait) return false;
  if (std::exchange(running.in_line, false)) lines_.leave(transfer.origin(), ticket);
  if (entry == Hosts::Entry::closed) {
    end(ticket, come_again(transfer, hosts_.closed_for(transfer.origin(), now())));
    return true;
  }
  running.inside = true;
  running.entered = now();
  const auto& about_to_send = transfer.job().about_to_send;
  if (!about_to_send || std::exchange(running.announced, true)) {
    send(ticket);
  } else {
    about_to_send(ticket);
  }
  return true;
}

/// For one that has no place at its host, which may come again after `wait`.
Answer Loop::come_again(const Transfer& transfer, Millis wait) const {
  const auto& origin = transfer.origin();
  const auto left = hosts_.patience_left(origin, transfer.job().host_patience, now());
  if (!left) return {Postponed{wait}, transfer.maybe_sent()};
  if (*left > Millis{0}) return {Postponed{std::min(wait, *left)}, transfer.maybe_sent()};
  const auto last_error = hosts_.last_error(origin);
  return transfer.failed(
      ErrorType::circuit_open,
      fmt::format("{} is not asked: its circuit breaker is open after {} failures in a row; the "
                  "last one: {}",
                  host_text(origin), hosts_.failures(origin),
                  last_error.empty() ? "no answer" : last_error));
}

/// Who waits for a name does so for a moment only, and then all may enter.
void Loop::shorten_line(const Origin& at) {
  const auto origin = at;  // it may be that of one who goes
  while (lines_.too_long(origin) && !hosts_.is_resolving(origin, now())) {
    const auto ticket = *lines_.last(origin);
    const auto& transfer = *running_.at(ticket).transfer;
    if (!transfer.job().gives_way || transfer.maybe_sent()) return;
    end(ticket, come_again(transfer, hosts_.next_turn(origin, now())));
  }
}

/// The time of its attempt runs while it waits, and would be used up without a byte having been
/// sent. Nor does a request wait for a host that is down beyond its patience.
void Loop::send_back_who_waits_too_long() {
  if (lines_.empty() || now() < look_at_lines_) return;
  look_at_lines_ = now() + between_looks;
  for (auto ticket : lines_.everybody()) {
    auto at = running_.find(ticket);
    if (at == running_.end()) continue;  // it went with the end of its line
    const auto& running = at->second;
    const auto& transfer = *running.transfer;
    const auto& job = transfer.job();
    const auto patience = hosts_.patience_left(transfer.origin(), job.host_patience, now());
    const bool out_of_patience = patience && *patience <= Millis{0};
    const bool may_go = job.gives_way && !transfer.maybe_sent();
    if (!out_of_patience && (!may_go || now() - running.joined < job.timeout)) {
      shorten_line(transfer.origin());
      continue;
    }
    end(ticket, come_again(transfer, hosts_.next_turn(transfer.origin(), now())));
  }
}

void Loop::let_in_freed() {
  while (!freed_.empty())
    for (const auto& origin : std::exchange(freed_, {})) let_in(origin);
}

/// Those who waited for a host try again, in order, until one has to wait.
void Loop::let_in(const Origin& origin) {
  while (auto first = lines_.first(origin))
    if (!enter_now(*first)) break;
  shorten_line(origin);
}

}  // namespace holdfast::http
