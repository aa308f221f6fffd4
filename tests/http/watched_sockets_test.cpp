#include <gtest/gtest.h>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "http/watched_sockets.hpp"

namespace holdfast::http {
namespace {

class WatchedSocketsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0);
    ASSERT_EQ(::write(other(), "x", 1), 1);
  }
  void TearDown() override {
    for (int end : ends_) ::close(end);
    ::close(epoll_);
  }
  int ours() const { return ends_[0]; }
  int other() const { return ends_[1]; }
  /// What epoll has to say right now; there is at most one socket.
  bool has_event() const {
    epoll_event event{};
    return ::epoll_wait(epoll_, &event, 1, 0) == 1;
  }

  int epoll_ = ::epoll_create1(0);
  std::array<int, 2> ends_{};
  WatchedSockets sockets_{epoll_};
};

TEST_F(WatchedSocketsTest, OneOfAConnectionStaysUntilSomethingComesThatNobodyWants) {
  sockets_.opened(ours());
  sockets_.watch(ours(), EPOLLIN);
  EXPECT_TRUE(has_event());
  EXPECT_TRUE(sockets_.is_wanted(ours()));
  sockets_.let_go(ours());
  EXPECT_TRUE(has_event()) << "it is still watched";
  EXPECT_FALSE(sockets_.is_wanted(ours()));
  EXPECT_FALSE(has_event()) << "it would come again and again";
  sockets_.watch(ours(), EPOLLIN);
  EXPECT_TRUE(has_event());
  EXPECT_TRUE(sockets_.is_wanted(ours()));
}

TEST_F(WatchedSocketsTest, WhatIsWaitedForChanges) {
  sockets_.opened(ours());
  sockets_.watch(ours(), EPOLLPRI);
  EXPECT_FALSE(has_event());
  sockets_.watch(ours(), EPOLLIN);
  EXPECT_TRUE(has_event());
  sockets_.watch(ours(), 0);
  EXPECT_FALSE(has_event());
  sockets_.watch(ours(), EPOLLOUT);
  EXPECT_TRUE(has_event());
}

TEST_F(WatchedSocketsTest, ANumberThatWasUsedBeforeIsWatchedAnew) {
  sockets_.opened(ours());
  sockets_.watch(ours(), EPOLLIN);
  sockets_.let_go(ours());
  int copy = ::dup(ours());
  ASSERT_EQ(::epoll_ctl(epoll_, EPOLL_CTL_DEL, ours(), nullptr), 0);
  sockets_.closed(ours());
  ASSERT_EQ(::dup2(copy, ours()), ours());
  ::close(copy);
  sockets_.opened(ours());
  sockets_.watch(ours(), EPOLLIN);
  EXPECT_TRUE(has_event());
}

TEST_F(WatchedSocketsTest, AnyOtherSocketIsLetGoAtOnce) {
  sockets_.watch(ours(), EPOLLIN);
  EXPECT_TRUE(has_event());
  EXPECT_TRUE(sockets_.is_wanted(ours()));
  sockets_.let_go(ours());
  EXPECT_FALSE(has_event());
}

}  // namespace
}  // namespace holdfast::http
