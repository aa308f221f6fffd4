#include "http/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace holdfast::http {

namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct Special {
  Special(std::string_view text, std::string_view use)
      : network{*Network::parse(text)}, what{use} {}
  Network network;
  std::string_view what;
};

/// The first that contains an address names it.
const std::vector<Special>& specials() {
  static const std::vector<Special> all{
      {"0.0.0.0/8", "wildcard"},
      {"10.0.0.0/8", "private"},
      {"100.64.0.0/10", "carrier-grade NAT"},
      {"127.0.0.0/8", "loopback"},
      {"168.63.129.16/32", "cloud metadata"},
      {"169.254.0.0/16", "link-local"},
      {"172.16.0.0/12", "private"},
      {"192.0.0.0/24", "protocol assignments"},
      {"192.0.2.0/24", "documentation"},
      {"192.88.99.0/24", "6to4 relay"},
      {"192.168.0.0/16", "private"},
      {"198.18.0.0/15", "benchmarking"},
      {"198.51.100.0/24", "documentation"},
      {"203.0.113.0/24", "documentation"},
      {"224.0.0.0/4", "multicast"},
      {"240.0.0.0/4", "reserved"},
      {"::/128", "wildcard"},
      {"::1/128", "loopback"},
      {"64:ff9b:1::/48", "local NAT64"},
      {"100::/64", "discard"},
      {"2001::/23", "protocol assignments and Teredo"},
      {"2001:db8::/32", "documentation"},
      {"3fff::/20", "documentation"},
      {"5f00::/16", "segment routing"},
      {"fc00::/7", "private"},
      {"fe80::/10", "link-local"},
      {"fec0::/10", "site-local"},
      {"ff00::/8", "multicast"},
  };
  return all;
}

/// Where IPv6 has room for the four bytes of an IPv4 address: network and offset.
struct Carrier {
  Network network;
  std::size_t offset;
};
const std::array<Carrier, 2>& carriers() {
  static const std::array<Carrier, 2> all{
      {{*Network::parse("64:ff9b::/96"), 12}, {*Network::parse("2002::/16"), 2}}};
  return all;
}

/// Of IPv6, all that was ever given to anybody. Whatever leads to another address is a matter of
/// this machine, such as a translation to IPv4.
const Network& internet() {
  static const Network all = *Network::parse("2000::/3");
  return all;
}

Address mapped(const std::uint8_t* four) {
  Address address;
  std::ranges::copy(v4_prefix, address.bytes.begin());
  std::copy_n(four, 4, address.bytes.begin() + 12);
  return address;
}

std::string_view named_in_table(const Address& address) {
  for (const auto& [network, what] : specials())
    if (network.contains(address)) return what;
  return {};
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  std::string copy{text};
  in_addr four{};
  if (::inet_pton(AF_INET, copy.c_str(), &four) == 1)
    return mapped(reinterpret_cast<const std::uint8_t*>(&four));
  Address address;
  // A zone (`fe80::1%eth0`) says where, not what.
  copy = copy.substr(0, copy.find('%'));
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1) return address;
  return {};
}

std::optional<Address> Address::of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    return mapped(reinterpret_cast<const std::uint8_t*>(&four.sin_addr));
  }
  if (address.sa_family != AF_INET6) return {};
  Address result;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  std::memcpy(result.bytes.data(), &six.sin6_addr, result.bytes.size());
  return result;
}

bool Address::is_v4() const {
  return std::equal(v4_prefix.begin(), v4_prefix.end(), bytes.begin());
}

std::string Address::text() const {
  char buffer[INET6_ADDRSTRLEN] = {};
  if (is_v4())
    ::inet_ntop(AF_INET, bytes.data() + 12, buffer, sizeof buffer);
  else
    ::inet_ntop(AF_INET6, bytes.data(), buffer, sizeof buffer);
  return buffer;
}

std::optional<Network> Network::parse(std::string_view text) {
  auto slash = text.find('/');
  auto address = Address::parse(text.substr(0, slash));
  if (!address) return {};
  bool v4 = text.find(':') == std::string_view::npos;
  int most = v4 ? 32 : 128;
  int bits = most;
  if (slash != std::string_view::npos) {
    auto number = text.substr(slash + 1);
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bits);
    if (error != std::errc{} || end != number.data() + number.size()) return {};
    if (bits < 0 || bits > most) return {};
  }
  return Network{*address, v4 ? bits + 96 : bits};
}

bool Network::contains(const Address& other) const {
  auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(other.bytes.begin(), other.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  address.bytes.begin()))
    return false;
  if (bits % 8 == 0) return true;
  int shift = 8 - bits % 8;
  return other.bytes[whole] >> shift == address.bytes[whole] >> shift;
}

std::string_view special_use(const Address& address) {
  if (auto what = named_in_table(address); !what.empty()) return what;
  if (address.is_v4()) return {};
  for (const auto& [network, offset] : carriers())
    if (network.contains(address)) return named_in_table(mapped(address.bytes.data() + offset));
  return internet().contains(address) ? "" : "reserved";
}

}  // namespace holdfast::http
