#include "documents/json_unescape.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace holdfast {

namespace {

/// The four digits behind `\u`.
std::optional<std::uint32_t> unit_at(std::string_view text, std::size_t at) {
  std::uint32_t unit = 0;
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return {};
  const char* end = text.data() + at + 6;
  const auto read = std::from_chars(text.data() + at + 2, end, unit, 16);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return unit;
}

void append(std::string& text, std::uint32_t code) {
  const auto tail = [&](std::uint32_t shift) {
    text += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char plain(char escaped) {
  switch (escaped) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return escaped;
  }
}

}  // namespace

std::string json_unescaped(std::string_view inside) {
  if (inside.find('\\') == inside.npos) return std::string{inside};
  std::string text;
  text.reserve(inside.size());
  for (std::size_t at = 0; at < inside.size();) {
    if (inside[at] != '\\' || at + 1 == inside.size()) {
      text += inside[at++];
      continue;
    }
    auto code = unit_at(inside, at);
    if (!code) {
      text += plain(inside[at + 1]);
      at += 2;
      continue;
    }
    at += 6;
    const auto low = *code >= 0xd800 && *code < 0xdc00 ? unit_at(inside, at) : std::nullopt;
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
      at += 6;
    }
    append(text, *code >= 0xd800 && *code < 0xe000 ? 0xfffd : *code);
  }
  return text;
}

}  // namespace holdfast
