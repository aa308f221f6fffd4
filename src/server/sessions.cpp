#include "server/sessions.hpp"

#include <algorithm>

#include "server/secrets.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_sessions = 10'000;

}  // namespace

Session Sessions::begin(std::string user, Role role, std::string credential, WallTime now) {
  Session session{.id = random_secret(),
                  .user = std::move(user),
                  .role = role,
                  .credential = std::move(credential),
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

}  // namespace holdfast::server
