#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "support/http_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Runs the examples as a newcomer would: each in a folder of its own, which it uses for its store.
class Examples : public testing::Test {
 protected:
  std::vector<std::string> in_folder(const std::string& example,
                                     const std::string& argument = {}) const {
    auto line = fmt::format("cd '{}' && exec '{}/{}' {}", store_.folder().string(),
                            HOLDFAST_EXAMPLES_FOLDER, example, argument);
    return {"/bin/sh", "-c", line};
  }
  std::string output_of(const std::string& example) const {
    auto finished = run(in_folder(example));
    EXPECT_TRUE(finished.ending.ok()) << finished.err;
    return finished.out;
  }

 private:
  TempStore store_;
};

/// The idempotency keys of the mails that were sent.
std::set<std::string> mails_in(const std::string& output) {
  static const std::regex mail{R"(Welcome, ada@example\.org! \((\w{26})\)\n)"};
  std::set<std::string> keys;
  for (std::sregex_iterator it{output.begin(), output.end(), mail}, end; it != end; ++it)
    keys.insert((*it)[1]);
  return keys;
}

TEST_F(Examples, WelcomeEmailIsSentAndTheProgramEndsWhenAsked) {
  Process program{in_folder("welcome_email")};
  EXPECT_TRUE(eventually([&] { return mails_in(program.out()).size() == 1; })) << program.err();
  program.signal(SIGTERM);
  auto ending = program.wait();
  ASSERT_TRUE(ending);
  EXPECT_TRUE(ending->ok()) << program.err();
}

TEST_F(Examples, OrdersAreChargedOnceAlthoughTheProgramIsKilled) {
  auto killed = run(in_folder("order"), {{"HOLDFAST_KILL_AT", "step_after_commit:2"}});
  EXPECT_EQ(killed.ending.signal, SIGKILL);
  auto rest = output_of("order");
  EXPECT_THAT(rest, HasSubstr("order-17 leaves with the receipt for order-17/charge/0"));
  EXPECT_THAT(rest, Not(HasSubstr("charging")));
  EXPECT_THAT(output_of("order"), Not(HasSubstr("charging"))) << "started again, it is the same";
}

TEST_F(Examples, WelcomeEmailIsSentByTheNextRunIfTheFirstOneWasKilled) {
  auto killed = run(in_folder("welcome_email"), {{"HOLDFAST_KILL_AT", "handler_before_start"}});
  EXPECT_EQ(killed.ending.signal, SIGKILL);
  EXPECT_TRUE(mails_in(killed.out).empty());
  // The next run enqueues one of its own, too.
  Process program{in_folder("welcome_email")};
  EXPECT_TRUE(eventually([&] { return mails_in(program.out()).size() == 2; })) << program.err();
}

TEST_F(Examples, FollowUpsComeWithTheCompletionOnly) {
  auto output = output_of("follow_ups");
  EXPECT_THAT(output, HasSubstr("receipt for order 1: charge-"));
  EXPECT_THAT(output, Not(HasSubstr("receipt for order 2")));
  EXPECT_THAT(output, HasSubstr("2 completed, 1 failed"));
}

TEST_F(Examples, PriceListIsInTheOrderOfItsRows) {
  auto output = output_of("price_list");
  EXPECT_THAT(output, HasSubstr("failed: 2 priced, 1 not\npencil 119\npaper 476\n"));
}

TEST_F(Examples, OwnTransactionEnqueuesIfItCommits) {
  auto output = output_of("own_transaction");
  EXPECT_THAT(output, HasSubstr("Ada did not: UNIQUE constraint failed"));
  auto first = output.find("welcome, Ada");
  ASSERT_NE(first, std::string::npos) << output;
  EXPECT_EQ(output.find("welcome, Ada", first + 1), std::string::npos) << output;
  EXPECT_THAT(output, HasSubstr("welcome, Grace"));

  auto again = output_of("own_transaction");
  EXPECT_THAT(again, HasSubstr("Grace did not"));
  EXPECT_THAT(again, Not(HasSubstr("welcome")));
}

TEST_F(Examples, ProfileIsFetchedAndGivenToItsCallback) {
  HttpServer server{[](const ServedRequest& request) {
    return answer(request.target == "/v1/readers/7" ? 200 : 404);
  }};
  auto finished = run(in_folder("profile", server.url("/v1")));
  EXPECT_EQ(finished.out, "reader 7: 200\n") << finished.err;
}

TEST_F(Examples, TenantsGetTheirShare) {
  auto output = output_of("tenants");
  for (auto file : {"first.csv", "second.csv", "third.csv", "other.csv"})
    EXPECT_THAT(output, HasSubstr(fmt::format("{} is imported", file)));
  EXPECT_THAT(output, HasSubstr("nightly goes on for ever"));
}

TEST_F(Examples, VideoPipelineRunsInOrder) {
  auto output = output_of("video_pipeline");
  EXPECT_THAT(output, HasSubstr("transcode completed 4"));
  EXPECT_THAT(output, HasSubstr("publish completed \"https://videos.example.org/7\""));
  EXPECT_THAT(output, HasSubstr("remove_upload completed"));
  EXPECT_THAT(output, HasSubstr("part 4 is ready"));
}

}  // namespace
}  // namespace holdfast::test
