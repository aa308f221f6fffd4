#include <gmock/gmock.h>

#include <fstream>

#include "scenario/redis_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A user who may neither list connections nor ask about the server.
std::string address_of_bob(RedisServer& server) {
  server.call({"ACL", "SETUSER", "bob", "on", ">s3cret", "~{holdfast}:*", "~{holdfast}",
               "&{holdfast}:*", "+@read", "+@write", "+@scripting", "+@pubsub", "+@connection",
               "-client|list", "+time"});
  return "redis://bob:s3cret@127.0.0.1:" + std::to_string(server.port());
}

TEST_F(RedisScenario, UserPasswordAndSocketWorkAndStaySecret) {
  RedisServer server;
  server.call({"ACL", "SETUSER", "ada", "on", ">s3cret", "~{holdfast}:*", "~{holdfast}",
               "&{holdfast}:*", "+@all"});
  server.call({"ACL", "SETUSER", "default", "off"});
  auto with = [&](const std::string& who) {
    return "redis://" + who + "@127.0.0.1:" + std::to_string(server.port());
  };
  auto engine = open(with("ada:s3cret"));
  EXPECT_EQ(enqueue(engine, 3).size(), 3u);
  EXPECT_THAT(engine.name(), Not(HasSubstr("s3cret")));
  std::ofstream{folder_.folder() / "password"} << "s3cret\n";
  auto file = (folder_.folder() / "password").string();
  auto by_socket = open(server.socket_address() + "?user=ada&password_file=" + file);
  EXPECT_EQ(Inspector{by_socket}.count({}), 3);
  for (const auto& address : {with("ada:wr0ng"), with("eve:wr0ng")}) {
    try {
      open(address);
      FAIL() << "opened with a wrong password";
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("wr0ng")));
    }
  }
}

TEST_F(RedisScenario, AUserWithoutAPasswordIsNotTheDefaultUser) {
  RedisServer server;
  server.call({"ACL", "SETUSER", "ada", "on", ">s3cret", "~*", "&*", "+@all"});
  server.call({"ACL", "SETUSER", "eve", "on", "nopass", "~*", "&*", "+@all"});
  auto as = [&](const std::string& who) {
    return open("redis://" + who + "@127.0.0.1:" + std::to_string(server.port()));
  };
  EXPECT_THROW(as("ada"), StoreError);
  EXPECT_THROW(as("nobody"), StoreError);
  EXPECT_NO_THROW(as("eve"));
}

TEST_F(RedisScenario, UserWhoMayNotAskAboutTheServerCanStillWork) {
  RedisServer server{{.append_only = true}};
  auto address = address_of_bob(server);
  auto engine = open(address);
  EXPECT_EQ(Inspector{engine}.durability(), "not known");
  EXPECT_THAT(Inspector{engine}.durability_warning(), HasSubstr("INFO"));
  CountingWorker able{server.address()}, unable{address};
  enqueue(engine, 20);
  EXPECT_TRUE(completes(engine, 20));
  EXPECT_NO_THROW(engine.parts().workers().look()) << "the other one has proof of its life";
  EXPECT_THROW(open(address + "?durability=crash-safe"), StoreUnusable);
}

TEST_F(RedisScenario, UserWhoMayNotListConnectionsReadsAReportThatIsBeingWritten) {
  RedisServer server;
  auto engine = open(server.address());
  enqueue(engine, 1);
  auto dead = engine.parts().workers().enlist({{}, {"count"}, 1});
  ClaimRequest claim{.worker = dead->id(), .kinds = {"count"}};
  ASSERT_EQ(engine.parts().tasks().exchange({.claim = claim}).claimed.size(), 1u);
  ReportHead head{ReportId::make(), system_clock().wall(), "test"};
  auto hold = engine.parts().reports().hold(head.id);
  dead.reset();
  ASSERT_TRUE(eventually([&] {
    auto sightings = engine.parts().workers().look();
    return !sightings.empty() && sightings[0].proven_dead &&
           engine.parts().workers().bury(sightings[0], head);
  }));
  auto bob = open(address_of_bob(server));
  auto seen_by_bob = bob.parts().reports().newest(1, 1).at(0);
  EXPECT_EQ(seen_by_bob.state, ReportState::running) << "as far as anybody knows";
  EXPECT_THAT(seen_by_bob.errors, ElementsAre(HasSubstr("client|list")));
  EXPECT_THAT(engine.parts().reports().newest(1, 1).at(0).errors, IsEmpty());
}

}  // namespace
}  // namespace holdfast::test
