#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <holdfast/blobs.hpp>

#include "support/temp_store.hpp"

namespace holdfast::test {

/// What every store of blobs must do. The parameter opens the same one again and again, as several
/// processes would, in a folder of the test's own.
using OpenBlobs = std::function<std::shared_ptr<BlobStore>(const std::string& folder)>;

class Blobs : public testing::TestWithParam<OpenBlobs> {
 protected:
  std::shared_ptr<BlobStore> open_again() const { return GetParam()(store_.folder() / "blobs"); }

  TempStore store_;
  std::shared_ptr<BlobStore> blobs_ = open_again();
};

TEST_P(Blobs, KeepWhatWasPutAndForgetWhatWasRemoved) {
  std::string content("any\0bytes\n\xff", 11);
  EXPECT_TRUE(blobs_->put("a-key_1.x", content));
  EXPECT_EQ(open_again()->get("a-key_1.x"), content);
  EXPECT_TRUE(blobs_->remove("a-key_1.x"));
  EXPECT_FALSE(blobs_->remove("a-key_1.x"));
  EXPECT_FALSE(blobs_->get("a-key_1.x"));
}

TEST_P(Blobs, TheFirstOneOfAKeyStays) {
  EXPECT_TRUE(blobs_->put("key", "first"));
  EXPECT_FALSE(open_again()->put("key", "second"));
  EXPECT_EQ(blobs_->get("key"), "first");
  EXPECT_TRUE(blobs_->put("empty", ""));
  EXPECT_EQ(blobs_->get("empty"), "");
}

TEST_P(Blobs, OfManyAtOnceOneWins) {
  std::atomic<int> winners = 0;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i)
      writers.emplace_back([&, i] { winners += open_again()->put("key", std::to_string(i)); });
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(blobs_->get("key")->size(), 1u);
}

TEST_P(Blobs, AreListedInOrderWithTheirSizes) {
  blobs_->put("b", std::string(100, 'x'));
  blobs_->put("a", "y");
  auto listed = blobs_->list();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].key, "a");
  EXPECT_GE(listed[1].bytes, 100u);
  EXPECT_LT(listed[1].age, std::chrono::minutes{10});
}

TEST_P(Blobs, KeysThatCouldLeadElsewhereAreRefused) {
  for (std::string key :
       {"", ".", "..", "../x", "a/../b", "a//b", "/a", "a/", "a/.b", ".hidden", "a b", "a\n"})
    EXPECT_THROW(blobs_->put(key, "x"), InvalidRequest) << key;
  EXPECT_THROW(blobs_->get(std::string(201, 'k')), InvalidRequest);
}

TEST_P(Blobs, KeysMayHaveFolders) {
  EXPECT_TRUE(blobs_->put("tx/Files/1.blob", "one"));
  EXPECT_TRUE(blobs_->put("tx/Files/2.blob", std::string(12, 'x')));
  EXPECT_TRUE(blobs_->put("tx2/Files/1.blob", "other"));
  EXPECT_FALSE(open_again()->put("tx/Files/1.blob", "again"));
  auto listed = blobs_->list("tx/");
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].key, "tx/Files/1.blob");
  EXPECT_EQ(listed[0].bytes, 3u);
  EXPECT_EQ(listed[1].bytes, 12u);
  EXPECT_EQ(blobs_->list().size(), 3u);
  EXPECT_EQ(blobs_->get("tx/Files/1.blob"), "one");
  EXPECT_FALSE(blobs_->get("tx/Files/1.blob/x"));
  EXPECT_THAT(blobs_->address_of("tx/Files/1.blob"), testing::EndsWith("/tx/Files/1.blob"));
  for (const auto& blob : listed) EXPECT_TRUE(blobs_->remove(blob.key));
  EXPECT_TRUE(blobs_->list("tx/").empty());
  EXPECT_TRUE(blobs_->put("tx/Files/1.blob", "anew"));
}

/// Never in memory as a whole.
class Pattern final : public BlobSource {
 public:
  explicit Pattern(std::uint64_t size) : size_{size} {}
  std::uint64_t size() const override { return size_; }
  std::size_t read(std::span<char> into) override {
    auto some = std::min<std::uint64_t>(into.size(), size_ - at_);
    for (std::size_t i = 0; i < some; ++i) into[i] = byte_at(at_ + i);
    at_ += some;
    return some;
  }
  static char byte_at(std::uint64_t at) { return static_cast<char>(at * 31 + at / 251); }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

TEST_P(Blobs, LargeOnesComeAndGoInPieces) {
  constexpr std::uint64_t size = 5'000'003;
  Pattern pattern{size};
  EXPECT_TRUE(blobs_->put("large", pattern));
  std::uint64_t at = 0, wrong = 0, longest = 0;
  EXPECT_TRUE(open_again()->read("large", [&](std::string_view piece) {
    longest = std::max<std::uint64_t>(longest, piece.size());
    for (char c : piece) wrong += c != Pattern::byte_at(at++);
  }));
  EXPECT_EQ(at, size);
  EXPECT_EQ(wrong, 0u);
  EXPECT_LT(longest, size / 2);
  EXPECT_FALSE(blobs_->read("none", [](std::string_view) { FAIL(); }));
  Pattern again{size};
  EXPECT_FALSE(blobs_->put("large", again));
}

INSTANTIATE_TEST_SUITE_P(Directory, Blobs, testing::Values([](const std::string& folder) {
                           return open_blobs("dir:" + folder);
                         }));

TEST(BlobDirectory, WhatWasChangedOnDiskIsNotTakenForTheBlob) {
  TempStore store;
  auto blobs = open_blobs("dir:" + store.folder().string());
  blobs->put("key", "content");
  std::ofstream{store.folder() / "key", std::ios::app} << "!";
  EXPECT_THROW(blobs->get("key"), BlobDamaged);
  std::ofstream{store.folder() / "key"} << "";
  EXPECT_THROW(blobs->get("key"), BlobDamaged);
}

TEST(BlobDirectory, AddressesThatMakeNoSenseAreRefused) {
  EXPECT_THROW(open_blobs("dir:"), ConfigError);
  EXPECT_THROW(open_blobs("s3:bucket"), ConfigError);
  EXPECT_THROW(open_blobs("dir:/dev/null/x"), ConfigError);
}

}  // namespace holdfast::test
