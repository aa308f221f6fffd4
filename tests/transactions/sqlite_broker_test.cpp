#include <filesystem>

#include "transactions/broker_contract.hpp"

namespace holdfast::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Contract, BrokerContract,
                         testing::Values(BrokerCase{"Sqlite",
                                                    [](const TempStore& folder) {
                                                      return open_broker(folder.address());
                                                    }}),
                         [](const auto& each) { return each.param.name; });

TEST(SqliteBroker, FilesOfLargeMessagesGoWithThem) {
  TempStore store;
  auto broker = open_broker(store.address());
  broker->declare("q");
  for (int i = 0; i < 2; ++i) broker->publish(Message{"q", std::string(100'000, 'x')});
  auto files = [&] {
    std::filesystem::directory_iterator folder{store.database() + ".holdfast/messages"};
    return std::distance(begin(folder), end(folder));
  };
  EXPECT_EQ(files(), 2);
  auto consumer = broker->consume({.prefetch = 1});
  consumer->listen("q");
  consumer->acknowledge(consumer->receive(std::chrono::seconds{30}).deliveries);
  EXPECT_EQ(files(), 1);
  broker->remove("q");
  EXPECT_EQ(files(), 0);
}

TEST(SqliteBroker, AddressesThatMakeNoSenseAreRefused) {
  EXPECT_THROW(open_broker("amqp"), ConfigError);
  EXPECT_THROW(open_broker("redis://localhost"), ConfigError);
}

}  // namespace
}  // namespace holdfast::test
