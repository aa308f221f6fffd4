#include <gmock/gmock.h>

#include "engines/redis/server_check.hpp"
#include "scenario/redis_scenario.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// The user that docs/redis.md tells people to make, for the store in `{holdfast}` alone.
class RedisRights : public RedisScenario {
 protected:
  RedisRights() { make_user("ada", documented_rights("redis.md")); }

  void make_user(const std::string& name, const std::vector<std::string>& rights) {
    redis::Command command{"ACL", "SETUSER", name, "reset", "on", ">s3cret"};
    command.insert(command.end(), rights.begin(), rights.end());
    auto made = server_.call(command);
    ASSERT_FALSE(made.is_error()) << made.text();
  }
  std::string address(const std::string& user) const {
    return "redis://" + user + ":s3cret@127.0.0.1:" + std::to_string(server_.port());
  }
  std::string answer(const std::string& user, const redis::Command& command) {
    auto at = redis::Address::parse(address(user));
    redis::Connection connection{at, at.endpoints.front(), Millis{10'000}};
    auto reply = connection.call(command);
    return reply.is_error() ? reply.string() : "allowed";
  }

  RedisServer server_{{.append_only = true}};
};

TEST_F(RedisRights, AreEnoughToWorkAndToKnowTheServer) {
  auto engine = open(address("ada"));
  EXPECT_EQ(Inspector{engine}.durability(), "power-safe");
  CountingWorker worker{address("ada")};
  enqueue(engine, 20);
  EXPECT_TRUE(completes(engine, 20));
  for (const auto& seen : Inspector{engine}.workers())
    EXPECT_THAT(seen.proof, HasSubstr("is open"));
  EXPECT_THROW(Tasks{open(address("ada") + "?prefix=other")}.enqueue_all({{"count", "{}"}}),
               StoreError);
}

TEST_F(RedisRights, AreForNothingElseOnTheServer) {
  server_.call({"SET", "foreign", "theirs"});
  server_.call({"SET", "queue:default", "theirs"});
  for (const auto& page : {"redis.md", "sidekiq.md"}) {
    make_user("eve", documented_rights(page));
    for (const redis::Command& command :
         std::vector<redis::Command>{{"FLUSHALL"},
                                     {"FLUSHDB"},
                                     {"CONFIG", "SET", "appendonly", "no"},
                                     {"CONFIG", "REWRITE"},
                                     {"KEYS", "*"},
                                     {"SCAN", "0"},
                                     {"RANDOMKEY"},
                                     {"DBSIZE"},
                                     {"SHUTDOWN", "NOSAVE"},
                                     {"DEBUG", "SLEEP", "0"},
                                     {"MONITOR"},
                                     {"ACL", "LIST"},
                                     {"ACL", "SETUSER", "eve", "+@all"},
                                     {"CLIENT", "KILL", "ID", "1"},
                                     {"CLIENT", "PAUSE", "1"},
                                     {"REPLICAOF", "127.0.0.1", "1"},
                                     {"SWAPDB", "0", "1"},
                                     {"MODULE", "LIST"},
                                     {"FUNCTION", "FLUSH"},
                                     {"SCRIPT", "FLUSH"},
                                     {"SAVE"},
                                     {"BGREWRITEAOF"},
                                     {"CLUSTER", "RESET"},
                                     {"GET", "foreign"},
                                     {"SET", "foreign", "ours"},
                                     {"DEL", "foreign"},
                                     {"RENAME", "{holdfast}:seq", "foreign"},
                                     {"PUBLISH", "foreign", "x"},
                                     {"EVAL", "return redis.call('GET', 'foreign')", "0"},
                                     {"EVAL", "return redis.call('FLUSHALL')", "0"},
                                     {"EVAL", "return redis.call('KEYS', '*')", "0"}})
      EXPECT_THAT(answer("eve", command),
                  AnyOf(HasSubstr("no permissions"), HasSubstr("can't"), HasSubstr("not allowed")))
          << page << ": " << command[0] << " " << (command.size() > 1 ? command[1] : "");
  }
  EXPECT_THAT(answer("ada", {"GET", "queue:default"}), HasSubstr("no permissions"));
  EXPECT_EQ(server_.call({"GET", "foreign"}).text(), "theirs");
}

TEST_F(RedisRights, ThatAreMissingAreNamed) {
  auto what = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const StoreError& error) {
      return error.what();
    }
    return "allowed";
  };
  auto rights = documented_rights("redis.md");
  rights.emplace_back("-hmget");
  make_user("bob", rights);
  EXPECT_THAT(what([&] { open(address("bob")); }),
              AllOf(HasSubstr("'hmget'"), HasSubstr("docs/redis.md#rights")));
  rights.back() = "-zadd";
  make_user("bob", rights);
  EXPECT_THAT(what([&] { enqueue(open(address("bob")), 1); }),
              AllOf(HasSubstr("script insert"), HasSubstr("docs/redis.md#rights")));
}

std::string info(const std::string& version) {
  return "# Server\r\n" + version + "\r\nrun_id:x\r\n";
}

TEST(RedisVersions, WithAKnownHoleInTheirScriptEngineAreToldOf) {
  for (const auto* version :
       {"redis_version:6.0.16", "redis_version:6.2.19", "redis_version:7.0.11",
        "redis_version:7.2.10", "redis_version:7.4.5", "redis_version:8.0.3", "redis_version:8.2.1",
        "redis_version:7.2.4\r\nvalkey_version:8.0.5",
        "redis_version:7.2.4\r\nvalkey_version:8.1.3"})
    EXPECT_THAT(redis::script_engine_warning(info(version)),
                AllOf(HasSubstr("CVE-2025-49844"), HasSubstr("distribution")))
        << version;
  for (const auto* version :
       {"redis_version:6.2.20", "redis_version:7.0.15", "redis_version:7.2.11",
        "redis_version:7.4.6", "redis_version:8.0.4", "redis_version:8.2.2", "redis_version:8.4.0",
        "redis_version:9.0.0", "something else", "redis_version:7.2.4\r\nvalkey_version:8.1.4",
        "redis_version:7.2.4\r\nvalkey_version:9.0.0"})
    EXPECT_THAT(redis::script_engine_warning(info(version)), IsEmpty()) << version;
}

}  // namespace
}  // namespace holdfast::test
