#include <gmock/gmock.h>

#include <csignal>

#include <fmt/format.h>

#include <holdfast/holdfast.hpp>
#include <holdfast/http.hpp>

#include "support/http_server.hpp"
#include "support/postgres_server.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"

namespace holdfast::http {
namespace {

using test::answer;
using test::HttpServer;
using test::ServedRequest;

struct Place {
  std::string_view engine;
  std::string_view point;
};

std::string new_store(std::string_view engine) {
  if (engine == "postgres") return test::PostgresServer::shared().new_store();
  return fmt::format("{}?prefix={}", test::shared_redis().address(), TaskId::make().text());
}

/// Dies at one place on the way of a request whose store is on a server, and another process goes
/// on.
class RequestKillsOnServers : public testing::TestWithParam<Place> {};

TEST_P(RequestKillsOnServers, DyingThereLosesNoRequestAndMakesEachCallbackOnce) {
  constexpr int count = 5;
  auto address = new_store(GetParam().engine);
  HttpServer server{[](const ServedRequest&) { return answer(200, "x"); }};
  auto engine = open(address);
  Client client{engine};
  client.enqueue_all(
      std::vector(count, client.build(Method::post, server.url(), callback("keep", 1))));
  std::vector<std::string> command{HOLDFAST_PROGRAM,  "--store",      address, "http", "run",
                                   "--allow-private", "--until-empty"};
  auto died = test::run(command, {{"HOLDFAST_KILL_AT", std::string{GetParam().point}}});
  ASSERT_EQ(died.ending.signal, SIGKILL) << died.err;
  auto finished = test::run(command);
  ASSERT_TRUE(finished.ending.ok()) << finished.err;
  Inspector inspector{engine};
  EXPECT_EQ(inspector.count({.states = {TaskState::completed}, .kind = request_kind}), count);
  EXPECT_EQ(inspector.count({.kind = "keep"}), count);
  EXPECT_LE(server.served(), 2 * count);
}

class PrintedOnServers : public testing::TestWithParam<std::string_view> {};

TEST_P(PrintedOnServers, LeavesNothingInTheStoreUnlessItDies) {
  const auto address = new_store(GetParam());
  HttpServer server{[](const ServedRequest&) { return answer(200, "x"); }};
  const auto print = [&](const test::Environment& environment = {}) {
    return test::run({HOLDFAST_PROGRAM, "--store", address, "http", "post", server.url(), "--hold",
                      "--print", "--allow-private"},
                     environment);
  };
  for (int i = 0; i < 3; ++i) {
    const auto printed = print();
    EXPECT_EQ(printed.out, "x") << printed.err;
  }
  Inspector inspector{open(address)};
  EXPECT_EQ(inspector.count({}), 0);
  EXPECT_TRUE(inspector.queues().empty());
  EXPECT_EQ(print({{"HOLDFAST_KILL_AT", "http_before_send"}}).ending.signal, SIGKILL);
  EXPECT_EQ(inspector.count({.states = {TaskState::held}, .kind = request_kind}), 1);
  EXPECT_EQ(inspector.retry({.kind = request_kind}), 1);
  test::run(
      {HOLDFAST_PROGRAM, "--store", address, "http", "run", "--allow-private", "--until-empty"});
  EXPECT_EQ(server.served(), 4) << "it is a request like any other";
}

INSTANTIATE_TEST_SUITE_P(Engines, PrintedOnServers, testing::Values("postgres", "redis"),
                         [](const auto& named) { return std::string{named.param}; });

std::vector<Place> places() {
  std::vector<Place> all;
  for (std::string_view engine : {"postgres", "redis"})
    for (std::string_view point : {"exchange_before_commit", "exchange_after_commit",
                                   "http_before_send", "http_after_answer"})
      all.push_back({engine, point});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, RequestKillsOnServers, testing::ValuesIn(places()),
                         [](const auto& place) {
                           return fmt::format("{}_{}", place.param.engine, place.param.point);
                         });

}  // namespace
}  // namespace holdfast::http
