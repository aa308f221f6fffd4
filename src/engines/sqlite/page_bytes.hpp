#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace holdfast::sqlite {

/// Numbers as SQLite writes them: most significant byte first. The caller has made sure that `at`
/// is within the bytes.
inline std::uint16_t read_u16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

inline std::uint32_t read_u32(std::span<const std::uint8_t> bytes, std::size_t at) {
  return std::uint32_t{read_u16(bytes, at)} << 16 | read_u16(bytes, at + 2);
}

/// A number of one to nine bytes, and `at` moved behind it; nothing if the bytes end before it.
inline std::optional<std::uint64_t> read_varint(std::span<const std::uint8_t> bytes,
                                                std::size_t& at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) return {};
    auto byte = bytes[at++];
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  return {};
}

}  // namespace holdfast::sqlite
