#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

/// How many bytes the UTF-8 character at the beginning of `text` has; 0 if it is not UTF-8.
std::size_t utf8_character(std::string_view text);
bool is_utf8(std::string_view text);
/// The number of the character that `text` begins with and that has `size` bytes.
std::uint32_t code_point(std::string_view text, std::size_t size);
/// Whether a character does something to a terminal instead of showing itself there.
bool steers(std::uint32_t code);

/// One line that is safe on a terminal and in a log: control characters, characters that change
/// the direction of writing, and bytes that are not UTF-8 appear as `\n`, `\x1b` or `\u202e`.
std::string plain(std::string_view text);

}  // namespace holdfast
