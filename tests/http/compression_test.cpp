#include "http/compression.hpp"

#include <brotli/encode.h>
#include <gtest/gtest.h>

namespace holdfast::http {
namespace {

constexpr std::size_t most = 100'000;

std::string brotli(std::string_view text) {
  std::size_t size = BrotliEncoderMaxCompressedSize(text.size());
  std::string packed(size, '\0');
  EXPECT_TRUE(BrotliEncoderCompress(BROTLI_DEFAULT_QUALITY, BROTLI_DEFAULT_WINDOW,
                                    BROTLI_DEFAULT_MODE, text.size(),
                                    reinterpret_cast<const std::uint8_t*>(text.data()), &size,
                                    reinterpret_cast<std::uint8_t*>(packed.data())));
  packed.resize(size);
  return packed;
}

/// A zlib stream without its head and its check.
std::string headless(const std::string& zlib) { return zlib.substr(2, zlib.size() - 6); }

std::string text() {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += std::to_string(i * i);
  return text;
}

using Decoded = std::optional<std::variant<std::string, Undecodable>>;

class Decoding : public testing::TestWithParam<std::pair<const char*, std::string>> {};

TEST_P(Decoding, GivesBackTheWholeOrSaysThatItIsNot) {
  const auto& [coding, packed] = GetParam();
  EXPECT_EQ(decode(packed, coding, most), Decoded{text()});
  EXPECT_EQ(decode(packed, coding, text().size()), Decoded{text()});
  EXPECT_EQ(decode(packed, coding, text().size() - 1), Decoded{Undecodable::too_large});
  for (auto size : {std::size_t{1}, packed.size() / 2, packed.size() - 1})
    EXPECT_EQ(decode(packed.substr(0, size), coding, most), Decoded{Undecodable::damaged}) << size;
}

INSTANTIATE_TEST_SUITE_P(Codings, Decoding,
                         testing::Values(std::pair{"gzip", compress(text(), true)},
                                         std::pair{"X-GZIP", compress(text(), true)},
                                         std::pair{"deflate", compress(text(), false)},
                                         std::pair{"deflate", headless(compress(text(), false))},
                                         std::pair{"br", brotli(text())},
                                         std::pair{"deflate, identity ,gzip",
                                                   compress(compress(text(), false), true)}));

TEST(Decoding, SeveralFilesOfGzipAreOne) {
  EXPECT_EQ(decode(compress("a", true) + compress("b", true), "gzip", most), Decoded{"ab"});
  EXPECT_EQ(decode(compress("a", true) + "rubbish", "gzip", most), Decoded{"a"});
}

TEST(Decoding, LeavesAloneWhatItDoesNotKnow) {
  EXPECT_EQ(decode("x", "", most), std::nullopt);
  EXPECT_EQ(decode("x", "identity", most), std::nullopt);
  EXPECT_EQ(decode("x", "zstd", most), std::nullopt);
  EXPECT_EQ(decode("x", "gzip, zstd", most), std::nullopt);
  EXPECT_EQ(decode("", "gzip", most), std::nullopt) << "an answer to HEAD";
  EXPECT_EQ(decode("x", "gzip,gzip,gzip,gzip,gzip,gzip", most), Decoded{Undecodable::damaged});
}

}  // namespace
}  // namespace holdfast::http
