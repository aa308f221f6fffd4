#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sidekiq {

/// As gzip, or as a zlib stream.
std::string compress(std::string_view bytes, bool gzip);

/// Either of them, told by how it begins. Nothing: it is neither, is broken off, or would have more
/// than `most` bytes.
std::optional<std::string> decompress(std::string_view bytes, std::size_t most);

}  // namespace holdfast::sidekiq
