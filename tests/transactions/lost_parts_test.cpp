#include <csignal>

#include "support/hindered_blobs.hpp"
#include "transactions/lost_parts.hpp"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(LostParts, AreAskedForAgainBeforeAnybodyIsTold) {
  auto running = run();
  ASSERT_NO_FATAL_FAILURE(record(5));
  ASSERT_TRUE(blobs_->remove(key(1)));
  ASSERT_NO_FATAL_FAILURE(change(3));
  ASSERT_TRUE(blobs_->remove(key(4)));
  ASSERT_TRUE(blobs_->put(key(4), "of another size"));
  header(5);
  EXPECT_EQ(asked_for(), "1, 3-4");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  EXPECT_EQ(messages_in("notices"), 0);
  EXPECT_EQ(inspector_.ledger("tx").size(), 2u);
  for (int i : {1, 3, 4}) part(i);
  ASSERT_TRUE(completes("tx"));
  expect_whole_notice(5);
  EXPECT_EQ(inspector_.ledger("tx").size(), 5u);
  std::vector<std::string> states, reasons;
  for (const auto& move : inspector_.moves("tx")) {
    states.push_back(move.to);
    reasons.push_back(move.reason);
  }
  EXPECT_THAT(reasons, Contains(HasSubstr("3 of 5 parts are gone from the blobs or changed there: "
                                          "'A' 1, 3-4")));
  EXPECT_THAT(states,
              ElementsAre("awaiting_results", "sending_completion", "needs_resend",
                          "awaiting_results", "sending_completion", "cleaning", "completed"));
}

TEST_F(LostParts, ThatAreLostAgainAndAgainEndTheResult) {
  auto options = this->options();
  options.max_resends = 1;
  auto running = run(options);
  ASSERT_NO_FATAL_FAILURE(record(2));
  ASSERT_TRUE(blobs_->remove(key(2)));
  header(2);
  EXPECT_EQ(asked_for(), "2");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  ASSERT_TRUE(blobs_->remove(key(1)));
  part(2);
  ASSERT_TRUE(fails("tx"));
  EXPECT_THAT(inspector_.find("tx")->task.error, HasSubstr("were gone 2 times"));
  auto notices = take("notices", 1);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0]->id(), "tx-failed");
  EXPECT_EQ(messages_in("notices"), 0);
}

/// As S3 lists: without what was written beside a blob.
class ListsWithoutSums final : public HinderedBlobs {
 public:
  explicit ListsWithoutSums(std::shared_ptr<BlobStore> blobs)
      : HinderedBlobs{std::move(blobs), [](std::string_view) {}} {}
  std::vector<BlobInfo> list(std::string_view prefix) override {
    auto blobs = HinderedBlobs::list(prefix);
    for (auto& blob : blobs) blob.sha256.clear();
    return blobs;
  }
};

TEST_F(LostParts, AreKnownByTheirSizeWhereListsHaveNoChecksum) {
  auto options = this->options();
  options.blobs = std::make_shared<ListsWithoutSums>(blobs_);
  auto running = run(options);
  ASSERT_NO_FATAL_FAILURE(record(2));
  ASSERT_TRUE(blobs_->remove(key(2)));
  ASSERT_TRUE(blobs_->put(key(2), "of another size"));
  header(2);
  EXPECT_EQ(asked_for(), "2");
  ASSERT_TRUE(gets_to("tx", "awaiting_results"));
  part(2);
  ASSERT_TRUE(completes("tx"));
  expect_whole_notice(2);
}

/// The program looks, dies, and is started again.
class LookKills : public LostParts, public testing::WithParamInterface<std::string> {};

TEST_P(LookKills, DyingThereTellsNobodyOfWhatIsGone) {
  {
    auto running = run();
    ASSERT_NO_FATAL_FAILURE(record(4));
  }
  ASSERT_TRUE(blobs_->remove(key(2)));
  ASSERT_NO_FATAL_FAILURE(change(3));
  header(4);
  auto died = test::run(command(), {{"HOLDFAST_KILL_AT", GetParam()}});
  ASSERT_EQ(died.ending.signal, SIGKILL) << died.err;
  ASSERT_EQ(inspector_.find("tx")->state, "sending_completion");
  ASSERT_EQ(inspector_.ledger("tx").size(), GetParam() == "look_before_reopen" ? 4u : 2u);
  EXPECT_EQ(messages_in("notices"), 0);
  program_ = std::make_unique<Process>(command());
  EXPECT_EQ(asked_for(), "2-3");
  EXPECT_EQ(messages_in("notices"), 0);
  for (int i : {2, 3}) part(i);
  ASSERT_TRUE(completes("tx")) << program_->err();
  expect_whole_notice(4);
}

INSTANTIATE_TEST_SUITE_P(Every, LookKills,
                         testing::Values("look_before_reopen", "look_after_reopen"),
                         [](const auto& at) { return at.param; });

}  // namespace
}  // namespace holdfast::test
