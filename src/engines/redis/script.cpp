#include "engines/redis/script.hpp"

#include <openssl/sha.h>

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace holdfast::redis {

Script::Script(std::string_view name, std::string_view text) : name_{name}, text_{text} {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  ::SHA1(reinterpret_cast<const unsigned char*>(text_.data()), text_.size(), digest.data());
  sha_ = fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace holdfast::redis
