#include <gmock/gmock.h>

#include <holdfast/http/client.hpp>
#include <holdfast/worker.hpp>

#include "server/server_under_test.hpp"

namespace holdfast::test {
namespace {

class HttpStatistics : public testing::Test {
 protected:
  void answer_all() {
    Tasks tasks{server_.engine()};
    tasks.on_json(std::string{http::request_kind}, [](Attempt&) -> Outcome {
      return Done{.text = R"({"status":200,"duration":0.5})"};
    });
    holdfast::run(tasks, {.until_empty = true});
  }
  boost::json::value stats() { return server_.get("/v1/http/stats").json(); }

  ServerUnderTest server_;
  http::Client client_{server_.engine()};
};

TEST_F(HttpStatistics, CountWhatIsAnsweredAfterTheyWereClearedHoweverOldItIs) {
  client_.get("http://example.org/1");
  answer_all();
  client_.get("http://example.org/2");
  EXPECT_EQ(stats().at("requests").at("completed").as_int64(), 1);
  ASSERT_EQ(server_.post("/v1/http/stats/clear").status, 204);
  const auto cleared = stats();
  EXPECT_EQ(cleared.at("requests").at("completed").as_int64(), 0);
  EXPECT_EQ(cleared.at("measured").as_int64(), 0);
  EXPECT_EQ(cleared.at("requests").at("pending").as_int64(), 1) << "it waits as before";
  answer_all();
  const auto later = stats();
  EXPECT_EQ(later.at("requests").at("completed").as_int64(), 1);
  EXPECT_EQ(later.at("requests").at("pending").as_int64(), 0);
  EXPECT_EQ(later.at("statuses").at("200").as_int64(), 1);
}

}  // namespace
}  // namespace holdfast::test
