#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace holdfast::http {

/// As gzip, or as a zlib stream.
std::string compress(std::string_view bytes, bool gzip);

/// Either of them, told by how it begins. Nothing: it is neither, is broken off, or would have more
/// than `most` bytes.
std::optional<std::string> decompress(std::string_view bytes, std::size_t most);

/// What a server did to a body is undone, or why that cannot be.
enum class Undecodable { damaged, too_large };
/// `codings` is the value of `Content-Encoding`. A body without an end is damaged. Nothing: there
/// is nothing to undo, or a coding that nobody asked for.
std::optional<std::variant<std::string, Undecodable>> decode(std::string_view bytes,
                                                             std::string_view codings,
                                                             std::size_t most);

}  // namespace holdfast::http
