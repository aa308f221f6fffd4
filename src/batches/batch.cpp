#include <holdfast/batch.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace holdfast {

namespace {

constexpr std::array<std::string_view, batch_status_count> status_names = {
    "queued", "inprog", "success", "failed", "aborted", "wait"};

std::optional<std::uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return {};
}

/// Whether a dash comes before this byte of a UUID.
constexpr bool dash_before(std::size_t byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

}  // namespace

BatchId BatchId::make() {
  BatchId id{TaskId::make().bytes};
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x70);  // version 7
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);  // variant of RFC 4122
  return id;
}

std::optional<BatchId> BatchId::parse(std::string_view text) {
  BatchId id;
  std::size_t at = 0;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    if (dash_before(i) && (at >= text.size() || text[at++] != '-')) return {};
    if (at + 2 > text.size()) return {};
    auto high = hex_digit(text[at]), low = hex_digit(text[at + 1]);
    if (!high || !low) return {};
    id.bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
    at += 2;
  }
  if (at != text.size()) return {};
  return id;
}

std::string BatchId::text() const {
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (dash_before(i)) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::string_view to_string(BatchStatus status) {
  return status_names[static_cast<std::size_t>(status)];
}

std::optional<BatchStatus> parse_batch_status(std::string_view text) {
  auto found = std::ranges::find(status_names, text);
  if (found == status_names.end()) return {};
  return static_cast<BatchStatus>(found - status_names.begin());
}

std::int64_t BatchCounts::all() const {
  return std::accumulate(std::begin(of), std::end(of), std::int64_t{0});
}

}  // namespace holdfast
