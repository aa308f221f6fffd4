#include <filesystem>

#include <gmock/gmock.h>

#include "server/enlisters.hpp"
#include "server/server_under_test.hpp"

namespace holdfast::test {
namespace {

using server::Scope;
using testing::HasSubstr;

/// Programs that enlist remote workers, each of which the audit log has.
class Enlisting : public testing::Test {
 protected:
  Answer enlist(const std::string& token, const std::string& body = R"({"kinds":["a"]})") {
    return server_.bare("POST", "/v1/remote/workers", body, {{"Authorization", "Bearer " + token}});
  }
  auto log_bytes() const { return std::filesystem::file_size(server_.folder() + "/audit.jsonl"); }

  ServerUnderTest server_;
  std::string loops_ = server_.new_token({.name = "loops", .scopes = {Scope::work}});
  std::string other_ = server_.new_token({.name = "other", .scopes = {Scope::work}});
};

TEST_F(Enlisting, CannotFillTheAuditLog) {
  // Also what is refused is in the log.
  int answered = 0;
  while (answered < 1'100 && enlist(loops_, "{}").status == 400) ++answered;
  EXPECT_GE(answered, 1'000) << "a fleet that starts again has room";
  EXPECT_LT(answered, 1'010) << "it may be more by what a slow test takes";
  const auto refused = enlist(loops_);
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(refused.code(), "rate_limited");
  ASSERT_TRUE(refused.headers.contains("retry-after"));
  EXPECT_LE(std::stoi(refused.headers.at("retry-after")), 3);
  const auto bytes = log_bytes();
  int noted = 0;
  for (int i = 0; i < 200; ++i) noted += enlist(loops_, "{}").status == 400 ? 1 : 0;
  EXPECT_LE(noted, 3);
  EXPECT_LE(log_bytes(), bytes + 3 * 1'500);
  EXPECT_EQ(enlist(other_).status, 201) << "others are not kept from it";
}

TEST_F(Enlisting, IsRememberedOfWorkersThatAreGone) {
  const auto enlisted = enlist(loops_).json();
  const std::string worker{enlisted.at("worker").as_string()};
  EXPECT_EQ(server_
                .bare("POST", "/v1/remote/workers/" + worker + "/retire", "{}",
                      {{"Authorization", "Bearer " + loops_},
                       {"Holdfast-Worker-Secret", enlisted.at("secret").as_string().c_str()}})
                .status,
            204);
  const auto workers = server_.get("/v1/workers").json().at("workers").as_array();
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].at("id").as_string(), worker);
  EXPECT_EQ(workers[0].at("enlisted_by").as_string(), "token/loops");
  const server::Enlisters again{server_.service().audit()};
  EXPECT_EQ(again.of(WorkerId::parse(worker).value()), "token/loops");
  EXPECT_EQ(again.of(WorkerId::make()), "");
}

TEST_F(Enlisting, IsNotAttributedByWhatOthersWroteIntoTheLog) {
  const auto worker = WorkerId::make();
  server_.service().audit().note({.who = "token/forger",
                                  .what = "POST /v1/queues/q/pause",
                                  .details = "201 worker " + worker.text()},
                                 "201 worker " + worker.text());
  EXPECT_EQ(server::Enlisters{server_.service().audit()}.of(worker), "");
}

}  // namespace
}  // namespace holdfast::test
