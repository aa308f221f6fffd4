#include <holdfast/http/signature.hpp>

#include <array>

#include <fmt/format.h>
#include <sodium.h>
#include <holdfast/error.hpp>

#include "http/base64.hpp"

namespace holdfast::http {

namespace {

constexpr std::string_view prefix = "whsec_";

std::string mac(std::string_view id, std::chrono::sys_seconds at, std::string_view body,
                const std::string& key) {
  auto head = fmt::format("{}.{}.", id, at.time_since_epoch().count());
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> result{};
  crypto_auth_hmacsha256_state state;
  auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  crypto_auth_hmacsha256_init(&state, bytes(key), key.size());
  crypto_auth_hmacsha256_update(&state, bytes(head), head.size());
  crypto_auth_hmacsha256_update(&state, bytes(body), body.size());
  crypto_auth_hmacsha256_final(&state, result.data());
  return {reinterpret_cast<const char*>(result.data()), result.size()};
}

}  // namespace

std::string signing_key(std::string_view text) {
  std::string key{text};
  if (text.starts_with(prefix)) {
    auto bytes = from_base64(text.substr(prefix.size()));
    if (!bytes) throw ConfigError{"a signing key that begins with whsec_ must go on in base64"};
    key = std::move(*bytes);
  }
  if (key.size() < 24 || key.size() > 64)
    throw ConfigError{fmt::format("a signing key has {} bytes; 24 to 64 are allowed", key.size())};
  return key;
}

std::string signature(std::string_view id, std::chrono::sys_seconds at, std::string_view body,
                      const std::vector<std::string>& keys) {
  std::string header;
  for (const auto& key : keys)
    header += fmt::format("{}v1,{}", header.empty() ? "" : " ", base64(mac(id, at, body, key)));
  return header;
}

bool verify_signature(std::string_view header, std::string_view id, std::chrono::sys_seconds at,
                      std::string_view body, const std::vector<std::string>& keys,
                      std::chrono::sys_seconds now, std::chrono::seconds tolerance) {
  if (at < now - tolerance || at > now + tolerance) return false;
  bool good = false;
  while (!header.empty()) {
    auto one = header.substr(0, header.find(' '));
    header.remove_prefix(std::min(one.size() + 1, header.size()));
    if (!one.starts_with("v1,")) continue;
    auto claimed = from_base64(one.substr(3));
    for (const auto& key : keys) {
      auto expected = mac(id, at, body, key);
      // In constant time, so that nobody can guess a signature byte by byte.
      good |= claimed && claimed->size() == expected.size() &&
              sodium_memcmp(claimed->data(), expected.data(), expected.size()) == 0;
    }
  }
  return good;
}

}  // namespace holdfast::http
