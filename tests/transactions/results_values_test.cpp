#include <gmock/gmock.h>

#include <set>

#include "results/lost_ledger.hpp"
#include "results/notify_queue.hpp"

namespace holdfast::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Ordinals, KnowWhatIsThereAndWhatIsNot) {
  Ordinals ordinals;
  EXPECT_THAT(ordinals.missing_up_to(0), IsEmpty());
  EXPECT_THAT(ordinals.missing_up_to(3), ElementsAre(Pair(1, 3)));
  for (int i : {5, 1, 3, 4, 4, 9}) ordinals.add(i);
  EXPECT_THAT(ordinals.missing_up_to(10), ElementsAre(Pair(2, 2), Pair(6, 8), Pair(10, 10)));
  EXPECT_THAT(ordinals.missing_up_to(4), ElementsAre(Pair(2, 2)));
  EXPECT_EQ(ordinals.count_up_to(4), 3);
  EXPECT_EQ(ordinals.count_up_to(100), 5);
  EXPECT_EQ(ordinals.highest(), 9);
}

/// Against a plain set, in many orders.
TEST(Ordinals, AgreeWithASet) {
  std::uint32_t random = 7;
  for (int round = 0; round < 200; ++round) {
    Ordinals ordinals;
    std::set<std::int64_t> plain;
    for (int i = 0; i < 30; ++i) {
      random = random * 1'664'525 + 1'013'904'223;
      auto ordinal = 1 + static_cast<std::int64_t>(random >> 16) % 25;
      ordinals.add(ordinal);
      plain.insert(ordinal);
    }
    std::int64_t missing = 0;
    for (auto [first, last] : ordinals.missing_up_to(25)) {
      for (auto i = first; i <= last; ++i) ASSERT_FALSE(plain.contains(i));
      missing += last - first + 1;
    }
    ASSERT_EQ(missing + std::ssize(plain), 25);
    for (int i = 1; i <= 25; ++i) ASSERT_EQ(ordinals.contains(i), plain.contains(i));
  }
}

TEST(Results, KeysOfBlobsNeverMeet) {
  EXPECT_EQ(blob_key("id", "Files", 3), "id/Files/3.blob");
  EXPECT_EQ(blob_key("id", "a:b", 1), "id/a_3ab/1.blob");
  EXPECT_EQ(blob_key("id", "a_3ab", 1), "id/a_5f3ab/1.blob");
  EXPECT_EQ(blob_key("id", "../x", 1), "id/_2e_2e_2fx/1.blob");
}

TEST(Results, GapsAreTold) {
  EXPECT_EQ(gaps_text({}), "");
  EXPECT_EQ(gaps_text({{17, 17}, {42, 44}}), "17, 42-44");
}

TEST(Results, OptionsThatMakeNoSenseAreRefused) { EXPECT_THROW(machine({}), ConfigError); }

TEST(Results, QueuesThatNoNoticeMayReachCannotBeAllowed) {
  auto refused = [](Options options) {
    if (options.notify_queue.empty()) options.notify_queue = "notices";
    options.request_queue = "requests";
    options.intake_queue = "wishes";
    EXPECT_THROW(check_queues(options), ConfigError);
  };
  refused({.notify_queue = "transaction-1-header"});
  for (const auto* queue : {"", "requests", "wishes", "holdfast.x", "holdfast-dead-letters",
                            "transaction-a-payload", "amq.topic"})
    refused({.notify_queues = {queue}});
  for (const auto* prefix : {"", "holdfast.", "holdfast-dead", "transaction-", "amq."})
    refused({.notify_prefixes = {prefix}});
}

TEST(Results, QueuesOfRequestsAreOnlyThat) {
  const Options good{.request_queue = "requests",
                     .notify_queue = "notices",
                     .failure_queue = "failures",
                     .intake_queue = "wishes"};
  EXPECT_NO_THROW(check_queues(good));
  for (auto queue : {&Options::request_queue, &Options::notify_queue, &Options::failure_queue,
                     &Options::intake_queue})
    for (const auto* taken : {"requests", "wishes", "holdfast.x", "holdfast-dead-letters",
                              "transaction-a-payload", "amq.topic"}) {
      auto options = good;
      if (options.*queue == taken) continue;
      options.*queue = taken;
      EXPECT_THROW(check_queues(options), ConfigError) << good.*queue << " -> " << taken;
    }
}

TEST(ResultsValues, ABlobSaysWhichPartItIs) {
  for (const std::string series : {"Files", "a:b", "x_y", "\xc3\xa4/..", "-r1"})
    for (int round : {0, 3}) {
      auto key = blob_key("tx", series, 12, round);
      EXPECT_EQ(place_of(key, round), (BlobPlace{series, 12, false})) << key;
      EXPECT_FALSE(place_of(key, round + 1)) << key;
      key.insert(key.size() - 5, "-0123456789abcdef");
      EXPECT_EQ(place_of(key, round), (BlobPlace{series, 12, true})) << key;
    }
  for (const char* stranger : {"tx", "tx/1.blob", "tx/A/1", "tx/A/x.blob", "tx/A/0.blob",
                               "tx/A/01.blob", "tx/A_zz/1.blob", "tx/A_4/1.blob"})
    EXPECT_FALSE(place_of(stranger, 0)) << stranger;
}

}  // namespace
}  // namespace holdfast::results
