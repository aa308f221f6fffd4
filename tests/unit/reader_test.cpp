#include <future>

#include <gtest/gtest.h>

#include "engines/sqlite/store.hpp"
#include "support/temp_store.hpp"

namespace holdfast::sqlite {
namespace {

using namespace std::chrono_literals;

class ReaderTest : public testing::Test {
 protected:
  std::unique_ptr<Connection> open() {
    ++opened_;
    return std::make_unique<Connection>(folder_.database(), Connection::Mode::read_write,
                                        Durability::crash_safe);
  }

  test::TempStore folder_;
  int opened_ = 0;
  Reader reader_{open(), [this] { return open(); }};
};

TEST_F(ReaderTest, OneConnectionServesThoseWhoComeOneByOne) {
  for (int i = 0; i < 3; ++i) reader_.read([](Connection&) {});
  EXPECT_EQ(opened_, 1);
}

TEST_F(ReaderTest, LongReadHoldsUpNobody) {
  reader_.read([&](Connection& mine) {
    auto other = std::async(std::launch::async,
                            [&] { return reader_.read([](Connection& db) { return &db; }); });
    EXPECT_EQ(other.wait_for(30s), std::future_status::ready);
    EXPECT_NE(other.get(), &mine);
  });
}

TEST_F(ReaderTest, WaitsWhereAllAreTaken) {
  std::promise<void> go_on;
  std::shared_future<void> told = go_on.get_future();
  std::vector<std::future<void>> readers;
  for (int i = 0; i < 8; ++i)
    readers.push_back(
        std::async(std::launch::async, [&] { reader_.read([&](Connection&) { told.wait(); }); }));
  go_on.set_value();
  for (auto& one : readers) EXPECT_EQ(one.wait_for(30s), std::future_status::ready);
  EXPECT_LE(opened_, 4);
}

}  // namespace
}  // namespace holdfast::sqlite
