#include <atomic>
#include <latch>
#include <vector>

#include <gmock/gmock.h>
#include <boost/json/parse.hpp>

#include "server/server_under_test.hpp"
#include "support/hindered_blobs.hpp"
#include "support/process.hpp"
#include "tasks/reserved.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using Hinder = std::function<void(std::string_view)>;

http::Keyring ring() { return {.current = "a", .keys = {{"a", std::string(32, 'k')}}}; }

/// Callbacks whose answers are encrypted or in blobs, and workers of other languages.
class SealedForRemoteWorkers : public testing::Test {
 protected:
  std::shared_ptr<BlobStore> blobs() const {
    return open_blobs("dir:" + (folder_.folder() / "blobs").string());
  }
  void serve(const http::PayloadOptions& payloads) {
    server_.emplace(ServerUnderTest::Options{.payloads = payloads, .threads = 8});
    const auto answer =
        server_->post("/v1/remote/workers", R"({"kinds":["keep"],"concurrency":20})");
    ASSERT_EQ(answer.status, 201) << answer.body;
    path_ = "/v1/remote/workers/" + std::string{answer.json().at("worker").as_string()};
    secret_ = {{"Holdfast-Worker-Secret", std::string{answer.json().at("secret").as_string()}}};
  }
  /// A callback as a processor with these options leaves it.
  TaskId callback(const http::PayloadOptions& payloads) {
    const auto id = TaskId::make();
    const http::SealedFor owner{id, "keep", "default"};
    return plant(http::seal(document(), owner, id.text(), payloads), id);
  }
  /// As it is in the store, past all that callers may do.
  TaskId plant(std::string payload, TaskId id = TaskId::make()) {
    NewTask task{"keep", std::move(payload), {.max_attempts = 2, .id = id}};
    return enqueue_own(server_->engine(), {std::move(task)}).front();
  }
  static boost::json::value document() {
    return {{"response", {{"status", 200}, {"body", std::string(300, 'x')}}}};
  }
  boost::json::array claim() {
    return server_->post(path_ + "/claim", R"({"limit":20})", secret_)
        .json()
        .at("tasks")
        .as_array();
  }
  void settle(const boost::json::value& task, const std::string& outcome) {
    const auto body = R"({"settlements":[{"id":")" + std::string{task.at("id").as_string()} +
                      R"(","token":)" + std::to_string(task.at("token").as_int64()) +
                      R"(,"delay_ms":0,"outcome":")" + outcome + R"("}]})";
    EXPECT_THAT(server_->post(path_ + "/settle", body, secret_).body, HasSubstr("accepted"));
  }
  TaskRecord task(TaskId id) { return server_->inspector().task(id).value(); }

  TempStore folder_;
  std::optional<ServerUnderTest> server_;
  std::string path_;
  Headers secret_;
};

TEST_F(SealedForRemoteWorkers, IsOpenedAndItsBlobForgottenWhenItIsDone) {
  const http::PayloadOptions in_blobs{.blobs = blobs(), .threshold = 10, .keyring = ring()};
  serve(in_blobs);
  const auto id = callback(in_blobs);
  ASSERT_TRUE(http::is_sealed(task(id).payload));
  for (const std::string outcome : {"retry", "done"}) {
    EXPECT_EQ(server_->inspector().count({.kind = "holdfast.http.forget"}), 0);
    const auto claimed = claim();
    ASSERT_EQ(claimed.size(), 1u);
    EXPECT_EQ(claimed[0].at("payload"), document());
    settle(claimed[0], outcome);
  }
  EXPECT_EQ(task(id).state, TaskState::completed);
  const auto forgets = server_->inspector().tasks({.kind = "holdfast.http.forget"});
  ASSERT_EQ(forgets.size(), 1u);
  EXPECT_EQ(forgets[0].payload, "\"" + id.text() + "\"");
}

TEST_F(SealedForRemoteWorkers, IsOpenedWhereItIsOnlyEncrypted) {
  serve({.keyring = ring()});
  callback({.keyring = ring()});
  const auto claimed = claim();
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].at("payload"), document());
  settle(claimed[0], "done");
  EXPECT_EQ(server_->inspector().count({.kind = "holdfast.http.forget"}), 0);
}

TEST_F(SealedForRemoteWorkers, FailsWithASentenceWhereTheServerCannotReadIt) {
  serve({});
  const auto plain = server_->enqueue("keep", R"({"plain":1})");
  const auto encrypted = callback({.keyring = ring()});
  const auto kept = callback({.blobs = blobs(), .threshold = 10});
  const auto claimed = claim();
  ASSERT_EQ(claimed.size(), 1u) << "the others are not handed out";
  EXPECT_EQ(claimed[0].at("id").as_string(), plain.text());
  for (const auto id : {encrypted, kept}) {
    EXPECT_EQ(task(id).state, TaskState::failed);
    EXPECT_THAT(task(id).error, HasSubstr("give this server the --blobs and --payload-key"));
  }
}

TEST_F(SealedForRemoteWorkers, IsHeldWhereItWasCopiedFromAnotherTask) {
  const http::PayloadOptions in_blobs{.blobs = blobs(), .threshold = 10, .keyring = ring()};
  serve(in_blobs);
  const auto kept = callback(in_blobs), encrypted = callback({.keyring = ring()});
  const std::vector copies{plant(task(kept).payload), plant(task(encrypted).payload)};
  EXPECT_EQ(claim().size(), 2u);
  EXPECT_EQ(task(copies[0]).state, TaskState::held);
  EXPECT_THAT(task(copies[0]).cause, HasSubstr("does not belong to task"));
  EXPECT_EQ(task(copies[1]).state, TaskState::held);
  EXPECT_THAT(task(copies[1]).cause, HasSubstr("copied from another task"));
  EXPECT_EQ(blobs()->list().size(), 1u);
}

TEST_F(SealedForRemoteWorkers, IsHeldWhereItsKindMustBeSealedAndItIsPlain) {
  serve({.blobs = blobs(), .keyring = ring(), .accept_plain = true, .sealed_kinds = {"ke*"}});
  const std::vector plain{
      server_->enqueue("keep", R"({"response":{"status":200}})"),
      plant(R"({"$encrypted":{},"response":{"status":200}})"),
      callback({.blobs = blobs(), .threshold = 10}),
  };
  const auto sealed = callback({.keyring = ring()});
  const auto claimed = claim();
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].at("id").as_string(), sealed.text());
  for (const auto id : plain) {
    EXPECT_EQ(task(id).state, TaskState::held);
    EXPECT_THAT(task(id).cause, HasSubstr("--require-sealed"));
  }
}

TEST_F(SealedForRemoteWorkers, IsTriedAgainUnchargedWhereBlobsAreAway) {
  const http::PayloadOptions in_blobs{.blobs = blobs(), .threshold = 10};
  serve({.blobs = std::make_shared<HinderedBlobs>(
             blobs(), [](std::string_view) { throw BlobError{"the blobs are on the moon"}; })});
  std::string trouble;
  server_->engine().events().subscribe([&](const Event& event) {
    if (const auto* one = std::get_if<StoreTrouble>(&event)) trouble = one->why;
  });
  const auto id = callback(in_blobs);
  EXPECT_TRUE(claim().empty());
  EXPECT_EQ(task(id).state, TaskState::pending);
  EXPECT_EQ(task(id).attempt, 0);
  EXPECT_THAT(trouble, HasSubstr("on the moon"));
}

TEST_F(SealedForRemoteWorkers, IsChargedWhereItsBlobIsDamaged) {
  const http::PayloadOptions in_blobs{.blobs = blobs(), .threshold = 10};
  serve({.blobs = std::make_shared<HinderedBlobs>(
             blobs(), [](std::string_view) { throw BlobDamaged{"it is not what was written"}; })});
  const auto id = callback(in_blobs);
  EXPECT_TRUE(claim().empty());
  EXPECT_EQ(task(id).attempt, 1);
  EXPECT_THAT(server_->inspector().history(id).back().reason, HasSubstr("not what was written"));
}

TEST_F(SealedForRemoteWorkers, LeavesThreadsToOthersWhileBlobsDoNotAnswer) {
  constexpr int many = 8;  // as many as there are threads
  std::latch answer{1};
  std::atomic<int> waiting = 0;
  const http::PayloadOptions in_blobs{.blobs = blobs(), .threshold = 10};
  serve({.blobs = std::make_shared<HinderedBlobs>(blobs(), [&](std::string_view) {
           ++waiting;
           answer.wait();
         })});
  for (int i = 0; i < many; ++i) callback(in_blobs);
  std::vector<std::thread> claims;
  for (int i = 0; i < many; ++i)
    claims.emplace_back([&] { server_->post(path_ + "/claim", R"({"limit":1})", secret_); });
  ASSERT_TRUE(eventually([&] {
    return waiting == 4 && server_->inspector().count({.states = {TaskState::pending}}) == 4;
  })) << waiting;
  EXPECT_EQ(server_->get("/v1/tasks").status, 200);
  for (const auto& one : server_->inspector().tasks({.states = {TaskState::pending}}))
    EXPECT_EQ(one.attempt, 0) << "that was not its fault";
  answer.count_down();
  for (auto& one : claims) one.join();
}

}  // namespace
}  // namespace holdfast::test
