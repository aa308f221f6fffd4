#include <gmock/gmock.h>

#include <fmt/format.h>

#include "support/network.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* warning = "not encrypted and leaves this machine";

/// What a worker with nothing to do says.
std::string worker_says(const std::string& address, const NetworkHost* at = nullptr) {
  std::vector<std::string> words{HOLDFAST_PROGRAM, "--store", address, "worker", "run",
                                 "--until-empty",  "--kind",  "x",     "--exec", "true"};
  auto ended = run(at ? at->there(words) : words);
  EXPECT_TRUE(ended.ending.ok()) << ended.err;
  return ended.err;
}

TEST(ClearText, ToARedisServerOnAnotherMachineIsToldOf) {
  NetworkHost other;
  RedisServer server{
      {.more = {"--bind", "127.0.0.1", other.our_address(), "--protected-mode", "no"}}};
  auto at = [&](const std::string& host) {
    return fmt::format("redis://holdfast:s3cret@{}:{}", host, server.port());
  };
  auto said = worker_says(at(other.our_address()), &other);
  EXPECT_THAT(said, HasSubstr(warning));
  EXPECT_THAT(said, HasSubstr("rediss://"));
  EXPECT_THAT(said, Not(HasSubstr("s3cret")));
  EXPECT_EQ(said.find(warning), said.rfind(warning)) << "once";
  EXPECT_THAT(worker_says(at("127.0.0.1")), Not(HasSubstr(warning)));
  EXPECT_THAT(worker_says(at(other.our_address())), Not(HasSubstr(warning)))
      << "an address of this machine";
  EXPECT_THAT(worker_says(server.socket_address()), Not(HasSubstr(warning)));
}

TEST(ClearText, ToAPostgresServerOnAnotherMachineIsToldOf) {
  NetworkHost other;
  PostgresServer server{{.addresses = {other.our_address()}}};
  auto at = [&](const std::string& host) {
    return fmt::format("postgres:host={} port={} dbname=postgres user=admin password=s3cret", host,
                       server.port());
  };
  auto said = worker_says(at(other.our_address()), &other);
  EXPECT_THAT(said, HasSubstr(warning));
  EXPECT_THAT(said, HasSubstr("sslmode=verify-full"));
  EXPECT_THAT(said, Not(HasSubstr("s3cret")));
  EXPECT_EQ(said.find(warning), said.rfind(warning)) << "once";
  auto doctor = run(other.there({HOLDFAST_PROGRAM, "--store", at(other.our_address()), "doctor"}));
  EXPECT_THAT(doctor.out, HasSubstr(warning));
  EXPECT_THAT(worker_says(at(other.our_address())), Not(HasSubstr(warning)))
      << "an address of this machine";
  EXPECT_THAT(worker_says(server.address()), Not(HasSubstr(warning)));
}

}  // namespace
}  // namespace holdfast::test
