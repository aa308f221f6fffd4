#include "transactions/message_attempts.hpp"

#include <sodium.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace holdfast {

namespace {

constexpr std::uint64_t beginning = 64 * 1024;

class Digest {
 public:
  Digest() { crypto_generichash_init(&state_, nullptr, 0, crypto_generichash_BYTES); }
  /// With its length, so that two texts are not taken for two others.
  void add(std::string_view text) {
    auto size = std::to_string(text.size()) + ":";
    for (std::string_view piece : {std::string_view{size}, text})
      crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(piece.data()),
                                piece.size());
  }
  std::int64_t number() {
    unsigned char sum[crypto_generichash_BYTES];
    crypto_generichash_final(&state_, sum, sizeof sum);
    std::uint64_t number = 0;
    std::memcpy(&number, sum, sizeof number);
    return static_cast<std::int64_t>(number >> 1);
  }

 private:
  crypto_generichash_state state_{};
};

}  // namespace

std::string MessageAttempts::text() const {
  return *this == MessageAttempts{} ? std::string{}
                                    : fmt::format("{} {} {}", deaths, failures, begun_at);
}

MessageAttempts MessageAttempts::parse(std::string_view text) {
  MessageAttempts read;
  const auto* end = text.data() + text.size();
  const auto* at = text.data();
  for (auto* number : {&read.deaths, &read.failures, &read.begun_at}) {
    if (at != text.data() && (at == end || *at++ != ' ')) return {};
    const auto [rest, wrong] = std::from_chars(at, end, *number);
    if (wrong != std::errc{}) return {};
    at = rest;
  }
  return read;
}

std::int64_t attempts_line_of(Delivery& delivery) {
  Digest digest;
  digest.add(delivery.queue());
  digest.add(delivery.id());
  for (const auto& [name, value] : delivery.headers()) {
    digest.add(name);
    digest.add(value);
  }
  digest.add(std::to_string(delivery.size()));
  std::string body(std::min(delivery.size(), beginning), '\0');
  body.resize(delivery.read(0, body));
  digest.add(body);
  return digest.number();
}

}  // namespace holdfast
