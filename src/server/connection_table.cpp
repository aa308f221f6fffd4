#include "server/connection_table.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::server {

std::string address_group(const boost::asio::ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const auto v6 = address.to_v6();
  if (v6.is_v4_mapped())
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6).to_string();
  const auto bytes = v6.to_bytes();
  return fmt::format("{:02x}/64", fmt::join(bytes.begin(), bytes.begin() + 8, ":"));
}

std::shared_ptr<Client> ConnectionTable::first_of(const InOrder& some) const {
  return some.empty() ? nullptr : entries_.at(some.begin()->second).client;
}

std::shared_ptr<Client> ConnectionTable::oldest() const { return first_of(waiting_); }

std::shared_ptr<Client> ConnectionTable::in_the_way(const std::string& group, bool shared) const {
  const auto same = waiting_of_group_.find(group);
  const auto most = shared ? limits_.per_shared_address : limits_.per_address;
  if (same != waiting_of_group_.end() && same->second.size() >= most) return first_of(same->second);
  return waiting_.size() >= limits_.unauthenticated ? oldest() : nullptr;
}

void ConnectionTable::add(std::shared_ptr<Client> client, const std::string& group) {
  auto* key = client.get();
  const auto number = ++last_;
  entries_[key] = {.client = std::move(client), .number = number, .group = group};
  waiting_[number] = key;
  waiting_of_group_[group][number] = key;
}

void ConnectionTable::forget_waiting(const Entry& entry) {
  waiting_.erase(entry.number);
  const auto same = waiting_of_group_.find(entry.group);
  same->second.erase(entry.number);
  if (same->second.empty()) waiting_of_group_.erase(same);
}

void ConnectionTable::leave(Client* client) {
  const auto found = entries_.find(client);
  if (found == entries_.end()) return;
  // It may be the last that holds the client, which must not go while it is looked at.
  const auto entry = std::move(found->second);
  entries_.erase(found);
  if (!entry.authenticated) return forget_waiting(entry);
  const auto own = of_caller_.find(entry.caller);
  own->second.erase(entry.number);
  if (own->second.empty()) of_caller_.erase(own);
}

ConnectionTable::Verdict ConnectionTable::authenticate(Client* client, const std::string& caller) {
  const auto found = entries_.find(client);
  if (found == entries_.end() || found->second.authenticated) return {};
  Verdict verdict;
  if (authenticated() >= limits_.authenticated) {
    const auto largest = std::ranges::max_element(
        of_caller_, {}, [](const auto& entry) { return entry.second.size(); });
    const auto own = of_caller_.find(caller);
    const auto has = own == of_caller_.end() ? 0 : own->second.size();
    if (largest == of_caller_.end() || largest->second.size() <= has + 1)
      return {.admitted = false};
    verdict.yields = least_useful_of(largest->second);
  }
  auto& entry = found->second;
  forget_waiting(entry);
  entry.authenticated = true;
  entry.caller = caller;
  of_caller_[caller][entry.number] = client;
  return verdict;
}

/// The one that has been silent longest, between two requests; without one, the oldest.
std::shared_ptr<Client> ConnectionTable::least_useful_of(const InOrder& some) const {
  const Client* best = nullptr;
  for (const auto& [number, client] : some)
    if (client->silent_since() && (!best || *client->silent_since() < *best->silent_since()))
      best = client;
  return best ? entries_.at(const_cast<Client*>(best)).client : first_of(some);
}

std::vector<std::shared_ptr<Client>> ConnectionTable::all() const {
  std::vector<std::shared_ptr<Client>> clients;
  clients.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) clients.push_back(entry.client);
  return clients;
}

}  // namespace holdfast::server
