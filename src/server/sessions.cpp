#include "server/sessions.hpp"

#include <algorithm>

#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_sessions = 10'000;
constexpr std::size_t most_addresses = 10'000;
constexpr int free_failures = 5;
constexpr Millis longest_brake{60'000};
constexpr Millis brake_forgets{600'000};

}  // namespace

Session Sessions::begin(std::string user, Role role, bool has_password, WallTime now) {
  Session session{.id = random_secret(),
                  .user = std::move(user),
                  .role = role,
                  .has_password = has_password,
                  .csrf = random_secret(),
                  .expires = now + lifetime};
  std::lock_guard lock{mutex_};
  forget_old(now);
  // Found by its fingerprint: comparing secrets in a tree would tell by its time how near one is.
  by_fingerprint_[fingerprint(session.id)] = session;
  return session;
}

std::optional<Session> Sessions::find(const std::string& id, WallTime now) {
  const auto key = fingerprint(id);
  std::lock_guard lock{mutex_};
  const auto found = by_fingerprint_.find(key);
  if (found == by_fingerprint_.end()) return {};
  if (found->second.expires <= now) {
    by_fingerprint_.erase(found);
    return {};
  }
  return found->second;
}

void Sessions::end(const std::string& id) {
  std::lock_guard lock{mutex_};
  by_fingerprint_.erase(fingerprint(id));
}

void Sessions::forget_old(WallTime now) {
  std::erase_if(by_fingerprint_, [&](const auto& entry) { return entry.second.expires <= now; });
  while (by_fingerprint_.size() >= most_sessions)
    by_fingerprint_.erase(std::ranges::min_element(
        by_fingerprint_, {}, [](const auto& entry) { return entry.second.expires; }));
}

Millis LoginBrake::wait(const std::string& peer, Millis now) {
  std::lock_guard lock{mutex_};
  const auto found = of_.find(peer);
  if (found == of_.end()) return Millis{0};
  return std::max(found->second.until - now, Millis{0});
}

void LoginBrake::failed(const std::string& peer, Millis now) {
  std::lock_guard lock{mutex_};
  std::erase_if(of_, [&](const auto& entry) { return entry.second.until + brake_forgets < now; });
  if (of_.size() >= most_addresses) of_.erase(of_.begin());
  auto& failures = of_[peer];
  ++failures.count;
  failures.until = now;
  if (failures.count >= free_failures)
    failures.until +=
        std::min(Millis{1'000 << std::min(failures.count - free_failures, 10)}, longest_brake);
}

void LoginBrake::succeeded(const std::string& peer) {
  std::lock_guard lock{mutex_};
  of_.erase(peer);
}

}  // namespace holdfast::server
