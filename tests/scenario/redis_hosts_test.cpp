#include <gtest/gtest.h>

#include <fmt/format.h>

#include "scenario/cut_off.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

TEST(RedisHosts, WorkerThatIsCutOffStopsItselfAndGoesOnWhenHealed) {
  NetworkHost one, other;
  RedisServer server{{.append_only = true,
                      .more = {"--bind", "127.0.0.1", one.our_address(), other.our_address(),
                               "--protected-mode", "no"}}};
  auto at = [&](const std::string& host) {
    return fmt::format("redis://{}:{}", host, server.port());
  };
  expect_that_cutting_off_a_worker_does_no_harm(one, other, {at, server.address()});
}

}  // namespace
}  // namespace holdfast::test
