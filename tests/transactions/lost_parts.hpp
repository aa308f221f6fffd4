#pragma once

#include "transactions/results_scenario.hpp"

namespace holdfast::test {

/// Parts that are recorded, and whose blobs are lost or changed before the notice is sent.
class LostParts : public ResultsScenario {
 protected:
  void TearDown() override {
    program_.reset();
    ResultsScenario::TearDown();
  }
  void part(int ordinal, const std::string& content = {}) const {
    broker_->publish(
        part_message("tx", "A", ordinal, content.empty() ? content_of(ordinal) : content));
  }
  static std::string content_of(int ordinal) { return fmt::format("part {}", ordinal); }
  void header(int count) const {
    broker_->publish(header_message("tx", fmt::format(R"([{{"name":"A","count":{}}}])", count)));
  }
  bool has_recorded(std::size_t parts) const {
    return eventually([&] { return inspector_.ledger("tx").size() == parts; },
                      std::chrono::seconds{60});
  }
  /// All of `count` parts are recorded, and the header has not come.
  void record(int count) const {
    start("tx");
    ASSERT_EQ(take("requests", 1).size(), 1u);
    ASSERT_TRUE(gets_to("tx", "awaiting_results"));
    for (int i = 1; i <= count; ++i) part(i);
    ASSERT_TRUE(has_recorded(static_cast<std::size_t>(count)));
  }
  static std::string key(int ordinal) { return results::blob_key("tx", "A", ordinal); }
  /// Another blob of the same size under the same key.
  void change(int ordinal) const {
    ASSERT_TRUE(blobs_->remove(key(ordinal)));
    ASSERT_TRUE(blobs_->put(key(ordinal), std::string(content_of(ordinal).size(), 'x')));
  }
  /// The ordinals that the producer is asked for again.
  std::string asked_for() const {
    auto requests = take("requests", 1);
    if (requests.size() != 1) return fmt::format("{} requests", requests.size());
    auto request = boost::json::parse(requests[0]->body());
    EXPECT_TRUE(request.at("resend").as_bool());
    EXPECT_TRUE(request.at("headerReceived").as_bool());
    return std::string{request.at("series").at(0).at("missing").as_string()};
  }
  void expect_whole_notice(int count) const {
    auto notices = take("notices", 1);
    ASSERT_EQ(notices.size(), 1u);
    auto notice = boost::json::parse(notices[0]->body());
    EXPECT_EQ(notice.at("totalBlobCount").as_int64(), count);
    auto& parts = notice.at("seriesCollection").at(0).at("blobReferences").as_array();
    ASSERT_EQ(std::ssize(parts), count);
    for (int i = 1; i <= count; ++i) {
      auto& told = parts[static_cast<std::size_t>(i - 1)];
      EXPECT_EQ(told.at("ordinal").as_int64(), i);
      EXPECT_EQ(blobs_->get(std::string{told.at("blobKey").as_string()}), content_of(i));
    }
    EXPECT_EQ(std::ssize(blobs_->list("tx/")), count) << "what was not told of is gone";
    EXPECT_LE(messages_in(dead_letter_queue), 0);
  }
  std::vector<std::string> command() const { return command_of(HOLDFAST_PROGRAM, {}); }

  std::unique_ptr<Process> program_{};
};

}  // namespace holdfast::test
