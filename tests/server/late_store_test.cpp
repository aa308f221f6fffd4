#include <csignal>

#include <gmock/gmock.h>

#include "server/serving.hpp"
#include "support/postgres_server.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ServeLate : public Serve {
 protected:
  static constexpr std::chrono::seconds patience{60};

  Answer add(const Running& running, const std::string& target) {
    return call(running.port, "POST", target, R"({"kind":"a"})",
                {{"Authorization", "Bearer " + running.token}});
  }
  bool becomes_ready(const Running& running) {
    return eventually([&] { return get(running, "/readyz").status == 200; }, patience);
  }
};

TEST_F(ServeLate, ServesTheOthersWhileOneStoreIsAwayAndThenAll) {
  PostgresServer postgres;
  const auto late = postgres.new_store();
  postgres.stop();
  auto running = start({"--store", late});
  EXPECT_THAT(running.process.out(), HasSubstr(R"("stores_away":["postgres:)"));
  EXPECT_EQ(get(running, "/healthz").status, 200);
  EXPECT_EQ(add(running, "/v1/tasks").status, 201);

  const auto ready = get(running, "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr("store 2 is away: "));
  EXPECT_THAT(ready.body, HasSubstr(postgres.folder())) << "where it was looked for";
  const auto stranger = call(running.port, "GET", "/readyz");
  EXPECT_EQ(stranger.status, 503);
  EXPECT_THAT(stranger.body, HasSubstr("store 2 is away"));
  EXPECT_THAT(stranger.body, Not(HasSubstr(postgres.folder())));

  const auto stores = get(running, "/v1/stores").json().at("stores").as_array();
  EXPECT_EQ(std::string{stores.at(0).at("run_level").as_string()}, "normal");
  EXPECT_EQ(std::string{stores.at(1).at("run_level").as_string()}, "away");
  EXPECT_THAT(std::string{stores.at(1).at("reason").as_string()}, HasSubstr("could not be opened"));
  const auto health = get(running, "/v1/health?store=2");
  EXPECT_EQ(std::string{health.json().at("level").as_string()}, "bad") << health.body;
  const auto refused = add(running, "/v1/tasks?store=2");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "store_away");

  postgres.start();
  ASSERT_TRUE(becomes_ready(running)) << running.process.err();
  EXPECT_EQ(add(running, "/v1/tasks?store=2").status, 201);
  EXPECT_EQ(get(running, "/v1/tasks/count?store=2").body, R"({"count":1,"complete":true})");
  EXPECT_THAT(running.process.err(), HasSubstr("is there now"));
}

TEST_F(ServeLate, WaitsForItsOnlyStore) {
  RedisServer redis;
  redis.kill();
  store_address_ = redis.address();
  auto running = start({"--state", store_.folder() / "state"});
  EXPECT_EQ(get(running, "/healthz").status, 200);
  EXPECT_EQ(get(running, "/readyz").status, 503);
  EXPECT_EQ(get(running, "/v1/tasks").code(), "store_away");
  redis.start();
  ASSERT_TRUE(becomes_ready(running)) << running.process.err();
  EXPECT_EQ(add(running, "/v1/tasks").status, 201);
}

TEST_F(ServeLate, EndsAtOnceWhereWaitingDoesNotHelp) {
  EXPECT_THAT(refusal({"--store", "mysql://127.0.0.1/work"}), HasSubstr("not the address"));
  EXPECT_THAT(refusal({"--store", "redis://127.0.0.1:port"}), HasSubstr("the port"));
  const auto file = (store_.folder() / "nowhere/work.db").string();
  const auto done = test::run(command({"--store", "sqlite:" + file}));
  EXPECT_NE(done.ending.code, 0);
  EXPECT_THAT(done.err, HasSubstr("nowhere"));
}

TEST_F(ServeLate, StopsInTimeWhileAStoreHangs) {
  PostgresServer postgres;
  auto running = start({"--store", postgres.new_store()});
  ASSERT_EQ(add(running, "/v1/tasks?store=2").status, 201);
  postgres.freeze();
  Wire waiting{running.port};
  waiting.send(request_text("GET", "/v1/tasks?store=2", {},
                            {{"Host", "127.0.0.1:" + std::to_string(running.port)},
                             {"Authorization", "Bearer " + running.token}}));
  ASSERT_TRUE(eventually([&] { return get(running, "/readyz").status == 503; }, patience));
  running.process.signal(SIGTERM);
  const auto ended = running.process.wait(std::chrono::seconds{20});
  postgres.thaw();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ok());
  EXPECT_THAT(running.process.err(), HasSubstr("ending without it"));
}

}  // namespace
}  // namespace holdfast::test
