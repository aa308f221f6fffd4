#pragma once

#include <string>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace holdfast::test {

/// The file of a blob as earlier versions wrote it into a folder: a line of our own, then the
/// content.
inline std::string old_blob(const std::string& content) {
  return fmt::format("holdfast-blob 1 {:016x} {}\n{}", XXH3_64bits(content.data(), content.size()),
                     content.size(), content);
}

}  // namespace holdfast::test
