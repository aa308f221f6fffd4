#include <gtest/gtest.h>

#include <fmt/format.h>

#include "scenario/cut_off.hpp"
#include "support/postgres_server.hpp"

namespace holdfast::test {
namespace {

TEST(PostgresHosts, WorkerThatIsCutOffStopsItselfAndGoesOnWhenHealed) {
  NetworkHost one, other;
  PostgresServer server{{.addresses = {one.our_address(), other.our_address()}}};
  auto at = [&](const std::string& host) {
    return fmt::format("postgres:host={} port={} dbname=postgres user=admin", host, server.port());
  };
  expect_that_cutting_off_a_worker_does_no_harm(one, other, {at, server.address()});
}

}  // namespace
}  // namespace holdfast::test
