#include "blobs/blob_contract.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace holdfast::test {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Blobs);

void PrintTo(const BlobHome& home, std::ostream* out) { *out << home.title; }

std::size_t Pattern::read(std::span<char> into) {
  auto some = std::min<std::uint64_t>(into.size(), size_ - at_);
  for (std::size_t i = 0; i < some; ++i) into[i] = byte_at(at_ + i);
  at_ += some;
  return some;
}

std::string Pattern::text(std::uint64_t size) {
  std::string all(size, '\0');
  Pattern{size}.read(all);
  return all;
}

std::int64_t bytes_of_pattern(BlobStore& blobs, const std::string& key) {
  std::uint64_t at = 0, wrong = 0;
  bool found = blobs.read(key, [&](std::string_view piece) {
    for (char c : piece) wrong += c != Pattern::byte_at(at++);
  });
  return found && wrong == 0 ? static_cast<std::int64_t>(at) : -1;
}

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
  // SHA-256 of `y`, where the store can say it in a list.
  EXPECT_THAT(
      listed[0].sha256,
      testing::AnyOf("", "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa"));
  for (const auto& blob : listed) EXPECT_FALSE(blob.doubtful) << blob.key;
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

TEST_P(Blobs, LargeOnesComeAndGoInPieces) {
  constexpr std::uint64_t size = 20'000'003;
  Pattern pattern{size};
  EXPECT_TRUE(blobs_->put("large", pattern));
  std::uint64_t longest = 0;
  EXPECT_TRUE(open_again()->read("large", [&](std::string_view piece) {
    longest = std::max<std::uint64_t>(longest, piece.size());
  }));
  EXPECT_LT(longest, size / 2);
  EXPECT_EQ(bytes_of_pattern(*blobs_, "large"), std::int64_t{size});
  ASSERT_EQ(blobs_->list().size(), 1u);
  EXPECT_EQ(blobs_->list().front().bytes, size);
  EXPECT_FALSE(blobs_->read("none", [](std::string_view) { FAIL(); }));
  Pattern again{size};
  EXPECT_FALSE(blobs_->put("large", again));
}

/// Ends before it should, as one whose message was taken away would.
class Broken final : public BlobSource {
 public:
  explicit Broken(std::uint64_t size) : size_{size}, content_{size / 2} {}
  std::uint64_t size() const override { return size_; }
  std::size_t read(std::span<char> into) override { return content_.read(into); }

 private:
  std::uint64_t size_;
  Pattern content_;
};

TEST_P(Blobs, OneThatIsNotWholeDoesNotComeIntoBeing) {
  for (std::uint64_t size : {1'000u, 20'000'000u}) {
    Broken broken{size};
    EXPECT_THROW(blobs_->put("broken", broken), BlobError);
    EXPECT_FALSE(blobs_->get("broken"));
    EXPECT_TRUE(blobs_->list().empty());
    Pattern whole{size};
    EXPECT_TRUE(blobs_->put("broken", whole));
    EXPECT_EQ(bytes_of_pattern(*blobs_, "broken"), static_cast<std::int64_t>(size));
    EXPECT_TRUE(blobs_->remove("broken"));
  }
}

TEST_P(Blobs, WhatAReaderThrowsComesOut) {
  blobs_->put("key", "content");
  EXPECT_THROW(blobs_->read("key", [](std::string_view) { throw InvalidRequest{"enough"}; }),
               InvalidRequest);
}

}  // namespace holdfast::test
