#include <algorithm>

#include <fmt/format.h>
#include <holdfast/blobs.hpp>

namespace holdfast {

namespace {

constexpr std::size_t longest_part = 200;
constexpr std::size_t longest_key = 900;

bool is_plain(std::string_view part) {
  return !part.empty() && part.size() <= longest_part && part.front() != '.' &&
         std::ranges::all_of(part, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

bool is_blob_key(std::string_view key) {
  bool plain = key.size() <= longest_key;
  for (auto rest = key; plain; rest.remove_prefix(rest.find('/') + 1)) {
    plain = is_plain(rest.substr(0, rest.find('/')));
    if (rest.find('/') == rest.npos) break;
  }
  return plain;
}

void check_blob_key(std::string_view key) {
  if (!is_blob_key(key))
    throw InvalidRequest{fmt::format(
        "the key of a blob needs 1 to {} letters, digits, '-', '_' and '.', and no dot in front; "
        "or several of these with '/' between them, {} in all",
        longest_part, longest_key)};
}

std::size_t BlobText::read(std::span<char> into) {
  auto some = left_.copy(into.data(), into.size());
  left_.remove_prefix(some);
  return some;
}

}  // namespace holdfast
