#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>

#include <holdfast/error.hpp>

#include "faults/file_calls.hpp"
#include "faults/workload.hpp"

namespace holdfast::test {
namespace {

TEST(GroupCommit, EveryThreadIsToldThatTheSyncFailed) {
  constexpr int threads = 6, before_the_fault = 60;
  intercept_file_calls();
  Workplace place;
  place.open();
  std::atomic<int> syncs = 0;
  auto fail_later = [&](Call call, std::string_view) -> std::optional<Fault> {
    if (call != Call::sync || ++syncs != before_the_fault) return {};
    return Fault{EIO};
  };
  std::mutex mutex;
  std::set<int> acknowledged;
  std::atomic<int> told = 0;
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < threads; ++client) {
      clients.emplace_back([&, client] {
        Faults faults{fail_later};
        try {
          for (int n = client; n < 10'000; n += threads) {
            place.insert({place.task(n)});
            std::lock_guard lock{mutex};
            acknowledged.insert(n);
          }
        } catch (const StorageFailed&) {
          ++told;
        }
      });
    }
  }
  EXPECT_EQ(told, threads);
  EXPECT_FALSE(acknowledged.empty());
  place.close();
  place.open();
  for (int n : acknowledged) EXPECT_NO_THROW(place.lease(n)) << n << " is lost";
}

}  // namespace
}  // namespace holdfast::test
