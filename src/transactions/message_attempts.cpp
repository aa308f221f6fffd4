#include "transactions/message_attempts.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace holdfast {

namespace {

constexpr std::uint64_t beginning = 64 * 1024;

/// With its length, so that two texts are not taken for two others.
void add(std::string& all, std::string_view text) {
  all += fmt::format("{}:", text.size());
  all += text;
}

std::int64_t number_of(const std::string& text) {
  std::array<unsigned char, crypto_generichash_BYTES> sum;
  crypto_generichash(sum.data(), sum.size(), reinterpret_cast<const unsigned char*>(text.data()),
                     text.size(), nullptr, 0);
  std::uint64_t number = 0;
  std::memcpy(&number, sum.data(), sizeof number);
  return static_cast<std::int64_t>(number >> 1);
}

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
  std::string all;
  add(all, delivery.queue());
  add(all, delivery.id());
  for (const auto& [name, value] : delivery.headers()) {
    add(all, name);
    add(all, value);
  }
  add(all, std::to_string(delivery.size()));
  std::string body(std::min(delivery.size(), beginning), '\0');
  body.resize(delivery.read(0, body));
  add(all, body);
  return number_of(all);
}

}  // namespace holdfast
