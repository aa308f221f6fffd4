#include "server/login_brake.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "http/address.hpp"
#include "server/users.hpp"

namespace holdfast::server {

namespace {

constexpr std::size_t most_remembered = 10'000;
constexpr int free_failures = 5;
constexpr int failures_of_an_attack = 20;
constexpr int failures_of_a_long_attack = 100;
constexpr Millis longest_brake{60'000};
constexpr Millis wait_in_attack{60'000};
constexpr Millis wait_in_long_attack{300'000};
constexpr Millis forgotten_after{600'000};

/// What one attacker has: an IPv4 address, or the network of 64 bits of an IPv6 address.
std::string one_of(const std::string& peer) {
  auto address = http::Address::parse(peer);
  if (!address) return peer;
  if (!address->is_v4()) std::fill(address->bytes.begin() + 8, address->bytes.end(), 0);
  return address->text();
}

/// Others cannot log in, and may be as long as a request.
std::string name_of(const std::string& user) { return is_user_name(user) ? user : "?"; }

std::string pair_of(const std::string& user, const std::string& address) {
  return address + " " + name_of(user);
}

Millis wait_of_address(int count) {
  if (count < free_failures) return Millis{0};
  return std::min(Millis{1'000 << std::min(count - free_failures, 10)}, longest_brake);
}

Millis wait_of_user(int count) {
  if (count < failures_of_an_attack) return Millis{0};
  return count < failures_of_a_long_attack ? wait_in_attack : wait_in_long_attack;
}

}  // namespace

LoginBrake::Failures LoginBrake::found(const Table& table, const std::string& key, Millis now) {
  const auto entry = table.find(key);
  if (entry == table.end() || entry->second.last + forgotten_after < now) return {};
  return entry->second;
}

/// Rarely, and for many at once, because it looks at all of them.
void LoginBrake::make_room(Table& table, Millis now) {
  std::erase_if(table, [&](const auto& each) { return each.second.last + forgotten_after < now; });
  if (table.size() < most_remembered) return;
  using Weight = std::pair<int, Millis>;
  const auto weight = [](const auto& each) { return Weight{each.second.count, each.second.last}; };
  std::vector<Weight> weights;
  for (const auto& each : table) weights.push_back(weight(each));
  const auto last = weights.begin() + static_cast<std::ptrdiff_t>(most_remembered / 10);
  std::nth_element(weights.begin(), last, weights.end());
  auto left = most_remembered / 10;
  std::erase_if(table, [&](const auto& each) {
    if (left == 0 || weight(each) > *last) return false;
    --left;
    return true;
  });
}

void LoginBrake::count(Table& table, const std::string& key, Millis now) {
  if (table.size() >= most_remembered && !table.contains(key)) make_room(table, now);
  table[key] = {found(table, key, now).count + 1, now};
}

Millis LoginBrake::wait(const std::string& user, const std::string& peer, Millis now) {
  const auto address = one_of(peer);
  std::lock_guard lock{mutex_};
  Millis until = now;
  if (const auto own = found(addresses_, address, now); own.count > 0)
    until = std::max(until, own.last + wait_of_address(own.count));
  if (user.empty()) return until - now;
  if (const auto pair = found(pairs_, pair_of(user, address), now); pair.count > 0)
    until = std::max(until, pair.last + wait_of_user(found(users_, name_of(user), now).count));
  return until - now;
}

void LoginBrake::failed(const std::string& user, const std::string& peer, Millis now) {
  const auto address = one_of(peer);
  std::lock_guard lock{mutex_};
  count(addresses_, address, now);
  if (user.empty()) return;
  count(users_, name_of(user), now);
  count(pairs_, pair_of(user, address), now);
}

void LoginBrake::succeeded(const std::string& user, const std::string& peer) {
  if (user.empty()) return;
  const auto address = one_of(peer);
  std::lock_guard lock{mutex_};
  const auto pair = pairs_.find(pair_of(user, address));
  if (pair == pairs_.end()) return;
  if (const auto own = addresses_.find(address); own != addresses_.end()) {
    own->second.count -= std::min(own->second.count, pair->second.count);
    if (own->second.count == 0) addresses_.erase(own);
  }
  pairs_.erase(pair);
}

}  // namespace holdfast::server
