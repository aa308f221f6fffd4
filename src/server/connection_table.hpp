#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "server/client.hpp"

namespace holdfast::server {

/// Whom connections of one address count as: an IPv4 address, or the first 64 bits of an IPv6 one,
/// of which a single machine has as many as it likes.
std::string address_group(const boost::asio::ip::address& address);

struct ConnectionLimits {
  std::size_t unauthenticated = 1'024;  ///< all together
  std::size_t authenticated = 3'072;
  std::size_t per_address = 64;  ///< unauthenticated ones of one address
  /// The same for addresses that many callers share: loopback and proxies.
  std::size_t per_shared_address = 1'024;
};

/// Which connections there are, and which one goes when there are too many. Whoever has not shown a
/// credential yet makes room for the next one, the oldest first, whatever it is doing; it never
/// takes the place of one that has. Those share their own part fairly: the caller with the most
/// connections gives one up. Every step takes time by the logarithm of their number. For one
/// thread.
class ConnectionTable {
 public:
  explicit ConnectionTable(const ConnectionLimits& limits) : limits_{limits} {}

  /// Which connection has to be closed before one of this address is added; nothing: none.
  std::shared_ptr<Client> in_the_way(const std::string& group, bool shared) const;
  void add(std::shared_ptr<Client> client, const std::string& group);
  void leave(Client* client);

  struct Verdict {
    bool admitted = true;
    std::shared_ptr<Client> yields{};  ///< to be closed
  };
  /// A connection has shown a credential of this caller. Not admitted: there is no room, and no
  /// other caller has more than this one.
  Verdict authenticate(Client* client, const std::string& caller);

  /// The oldest that has not shown a credential; nothing: there is none.
  std::shared_ptr<Client> oldest() const;
  std::vector<std::shared_ptr<Client>> all() const;
  std::size_t unauthenticated() const { return waiting_.size(); }
  std::size_t authenticated() const { return entries_.size() - waiting_.size(); }

 private:
  struct Entry {
    std::shared_ptr<Client> client;
    std::uint64_t number = 0;  ///< in the order in which they came
    std::string group{};
    std::string caller{};
    bool authenticated = false;
  };
  using InOrder = std::map<std::uint64_t, Client*>;

  std::shared_ptr<Client> first_of(const InOrder& some) const;
  std::shared_ptr<Client> least_useful_of(const InOrder& some) const;
  void forget_waiting(const Entry& entry);

  ConnectionLimits limits_;
  std::uint64_t last_ = 0;
  std::unordered_map<Client*, Entry> entries_{};
  InOrder waiting_{};  ///< unauthenticated
  std::unordered_map<std::string, InOrder> waiting_of_group_{};
  std::map<std::string, InOrder> of_caller_{};  ///< authenticated
};

}  // namespace holdfast::server
