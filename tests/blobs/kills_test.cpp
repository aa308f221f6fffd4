#include <csignal>

#include "blobs/blob_contract.hpp"
#include "blobs/servers.hpp"
#include "transactions/results_scenario.hpp"

namespace holdfast::test {
namespace {

struct Kill {
  std::string service;
  std::string at;
};
void PrintTo(const Kill& kill, std::ostream* out) { *out << kill.service << " " << kill.at; }

/// A result with a part that takes three blocks and one that takes none, on its way to a service
/// when the program dies.
class UploadKills : public ResultsScenario, public testing::WithParamInterface<Kill> {
 protected:
  static constexpr std::uint64_t large = 20'000'000;
  static constexpr const char* large_key = "tx/A/1.blob";

  UploadKills() { blobs_ = open_blobs(place_); }

  void produce() const {
    broker_->declare(results::header_queue("tx"));
    broker_->declare(results::payload_queue("tx"));
    broker_->publish(part_message("tx", "A", 1, Pattern::text(large)));
    broker_->publish(part_message("tx", "A", 2, "small"));
    broker_->publish(header_message("tx", R"([{"name":"A","count":2}])"));
  }
  Finished run_program(const Environment& environment = {}) const {
    return test::run({HOLDFAST_PROGRAM, "--store", store_.address(), "results", "run",
                      "--until-empty", "--blobs", place_, "--request-queue", "requests",
                      "--notify-queue", "notices", "--threads", "1"},
                     environment);
  }
  /// Of this test's own part.
  int blocks_sent() const {
    if (!on_azure_) return shared_s3_front().requests(block_request) - blocks_before_;
    return shared_azurite().requests_with(folder_ + "/" + large_key + "?blockid=");
  }

  static constexpr const char* block_request = "PUT object partNumber uploadId";
  std::string folder_ = store_.folder().filename();
  bool on_azure_ = GetParam().service == "azure";
  std::string place_ =
      on_azure_ ? shared_azurite().address(folder_) : shared_s3_front().address(folder_);
  int blocks_before_ = on_azure_ ? 0 : shared_s3_front().requests(block_request);
};

TEST_P(UploadKills, LeaveNothingHalfAndLoseNothing) {
  start("tx");
  produce();
  auto died = run_program({{"HOLDFAST_KILL_AT", GetParam().at}});
  ASSERT_EQ(died.ending.signal, SIGKILL) << died.err;
  bool before_it_was_whole =
      GetParam().at == "upload_after_block:2" || GetParam().at == "upload_before_commit:1";
  EXPECT_EQ(blobs_->list().empty(), before_it_was_whole);
  for (const auto& blob : blobs_->list())
    EXPECT_EQ(blob.bytes, blob.key == large_key ? large : 5u) << blob.key;
  auto finished = run_program();
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  EXPECT_EQ(inspector_.find("tx")->task.state, TaskState::completed);
  EXPECT_EQ(bytes_of_pattern(*blobs_, large_key), std::int64_t{large});
  EXPECT_EQ(blobs_->get("tx/A/2.blob"), "small");
  EXPECT_EQ(blobs_->list().size(), 2u);
  EXPECT_EQ(inspector_.ledger("tx").size(), 2u);
  // Azure's blocks are found again; those of S3 are not, and somebody has to clean up.
  int in_vain = !before_it_was_whole || on_azure_ ? 0 : GetParam().at.ends_with("block:2") ? 2 : 3;
  EXPECT_TRUE(eventually([&] { return blocks_sent() >= 3 + in_vain; }));
  EXPECT_EQ(blocks_sent(), 3 + in_vain);
  EXPECT_EQ(blobs_->remove_unfinished(std::chrono::seconds{0}),
            before_it_was_whole && !on_azure_ ? 1 : 0);
  EXPECT_EQ(blobs_->list().size(), 2u);
}

std::vector<Kill> kills() {
  std::vector<Kill> all;
  for (const char* at : {"upload_after_block:2", "upload_before_commit:1", "upload_after_commit:1"})
    for (const char* service : {"azure", "s3"}) all.push_back({service, at});
  // What is small goes the same way to both.
  for (const char* at : {"upload_before_commit:2", "upload_after_commit:2"})
    all.push_back({"azure", at});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, UploadKills, testing::ValuesIn(kills()));

}  // namespace
}  // namespace holdfast::test
