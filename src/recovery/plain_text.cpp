#include "recovery/plain_text.hpp"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace holdfast {

namespace {

std::uint32_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

std::string escaped(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

std::uint32_t code_point(std::string_view text, std::size_t size) {
  if (size == 1) return byte_at(text, 0);
  std::uint32_t code = byte_at(text, 0) & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (byte_at(text, i) & 0x3f);
  return code;
}

bool steers(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

std::size_t utf8_character(std::string_view text) {
  if (text.empty()) return 0;
  auto first = byte_at(text, 0);
  if (first < 0x80) return 1;
  std::size_t size = first >= 0xc2 && first < 0xe0   ? 2
                     : first >= 0xe0 && first < 0xf0 ? 3
                     : first >= 0xf0 && first < 0xf5 ? 4
                                                     : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  // Longer than need be, half of a surrogate pair, or beyond the last character.
  auto code = code_point(text, size);
  if (size == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) return 0;
  if (size == 4 && (code < 0x10000 || code > 0x10ffff)) return 0;
  return size;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    // Most texts are plain ASCII, which is seen eight bytes at a time.
    if (std::uint64_t eight = 0; text.size() >= sizeof eight) {
      std::memcpy(&eight, text.data(), sizeof eight);
      if ((eight & 0x8080'8080'8080'8080U) == 0) {
        text.remove_prefix(sizeof eight);
        continue;
      }
    }
    auto size = utf8_character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string plain(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    auto size = utf8_character(text);
    if (size == 0) {
      line += fmt::format("\\x{:02x}", byte_at(text, 0));
      size = 1;
    } else if (auto code = code_point(text, size); steers(code)) {
      line += escaped(code);
    } else {
      line += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return line;
}

}  // namespace holdfast
