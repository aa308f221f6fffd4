#include <future>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "server/listener.hpp"
#include "server/secrets.hpp"
#include "server/service.hpp"
#include "server/wire_call.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/temp_store.hpp"

namespace holdfast::test {
namespace {

/// A server on two stores, the first of which can be made to hang.
class HungStore : public testing::Test {
 protected:
  HungStore() {
    make_private_folder(folder_);
    service_ = std::make_unique<server::Service>(
        server::ServiceOptions{.folder = folder_,
                               .gate = {.no_auth = true,
                                        .port = listener_.port(),
                                        .hosts = {"127.0.0.1"},
                                        .token = server::random_secret()}},
        std::vector<server::StoreToServe>{server::at_hand(open(postgres_.new_store())),
                                          server::at_hand(open(other_.address()))});
    thread_ = std::thread{[this] { listener_.run(*service_); }};
  }
  ~HungStore() override {
    postgres_.thaw();
    listener_.stop();
    thread_.join();
  }

  Answer get(const std::string& target) { return call(listener_.port(), "GET", target); }
  Wire begin(const std::string& target) {
    Wire wire{listener_.port()};
    wire.send(
        request_text("GET", target, {}, {{"Host", fmt::format("127.0.0.1:{}", listener_.port())}}));
    return wire;
  }
  bool probe_is_answered() {
    std::promise<void> answered;
    auto answer = answered.get_future();
    listener_.probe([] {}, [&] { answered.set_value(); });
    return answer.wait_for(std::chrono::seconds{20}) == std::future_status::ready;
  }

  PostgresServer postgres_;
  TempStore other_;
  std::string folder_ = (other_.folder() / "server").string();
  server::Listener listener_{{}};
  std::unique_ptr<server::Service> service_;
  std::thread thread_;
};

TEST_F(HungStore, KeepsNobodyWaitingWhoDoesNotAskIt) {
  ASSERT_EQ(get("/readyz").status, 200);
  ASSERT_EQ(get("/v1/tasks").status, 200);
  postgres_.freeze();
  std::vector<Wire> waiting;
  for (int i = 0; i < 24; ++i) waiting.push_back(begin("/v1/tasks"));
  EXPECT_EQ(get("/healthz").status, 200);
  EXPECT_EQ(get("/v1/session").status, 200);
  EXPECT_EQ(get("/v1/stores").json().at("stores").as_array().size(), 2u);
  EXPECT_EQ(get("/v1/tasks?store=2").status, 200);
  EXPECT_EQ(std::string{get("/v1/health?store=2").json().at("level").as_string()}, "good");
  EXPECT_TRUE(probe_is_answered()) << "the watchdog is fed";
  for (auto& each : waiting) {
    const auto answer = each.answer();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.code(), "store_away");
  }
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_TRUE(service_->stores()[0]->found().silent);
  EXPECT_FALSE(service_->stores()[0]->found().broken);
  postgres_.thaw();
  EXPECT_TRUE(eventually([&] { return get("/readyz").status == 200; }));
  EXPECT_EQ(get("/v1/tasks").status, 200);
}

TEST_F(HungStore, IsToldFromOneThatCannotBeWritten) {
  postgres_.ask("ALTER SYSTEM SET default_transaction_read_only = on");
  postgres_.ask("SELECT pg_reload_conf()");
  EXPECT_TRUE(eventually(
      [&] { return get("/v1/health").body.find("cannot be written") != std::string::npos; },
      std::chrono::seconds{60}));
  const auto stores = get("/v1/stores").json().at("stores").as_array();
  EXPECT_EQ(std::string{stores[0].at("run_level").as_string()}, "read-only");
  EXPECT_THAT(std::string{stores[0].at("reason").as_string()}, testing::HasSubstr("read-only"));
  EXPECT_EQ(std::string{stores[1].at("run_level").as_string()}, "normal");
  EXPECT_EQ(get("/readyz").status, 200);
}

}  // namespace
}  // namespace holdfast::test
