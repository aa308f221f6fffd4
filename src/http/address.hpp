#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace holdfast::http {

/// An IPv4 or IPv6 address. IPv4 is kept as it is mapped into IPv6, so both compare.
struct Address {
  std::array<std::uint8_t, 16> bytes{};

  static std::optional<Address> parse(std::string_view text);
  static std::optional<Address> of(const sockaddr& address);
  bool is_v4() const;
  std::string text() const;
  bool operator==(const Address&) const = default;
};

struct Network {
  Address address{};
  int bits = 128;  ///< of the IPv6 form

  /// `10.0.0.0/8`, `fd00::/8`, or one address. Nothing: it is neither.
  static std::optional<Network> parse(std::string_view text);
  bool contains(const Address& address) const;
};

/// Why nobody outside should be able to make us connect there, in a word such as `loopback`; empty:
/// it is an ordinary address. Looks into addresses that carry an IPv4 address in them.
std::string_view special_use(const Address& address);

}  // namespace holdfast::http
