#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/thread_pool.hpp>

namespace holdfast::server {

/// Threads that may wait: some for each store, and some for what asks no store. Each store has its
/// own, so that one that hangs keeps only those waiting who want something of it.
class Lanes {
 public:
  Lanes(std::size_t stores, int threads_of_each);

  /// `store`: its number, from 0; nothing: none is asked. False: too many wait already.
  bool work(std::optional<std::size_t> store, std::function<void()> job);
  /// How many jobs that ask no store have ended.
  std::uint64_t done() const { return lanes_.front()->done; }
  void join();

 private:
  struct Lane {
    explicit Lane(int count) : threads{static_cast<std::size_t>(count)} {}
    std::atomic<int> waiting = 0;
    std::atomic<std::uint64_t> done = 0;
    boost::asio::thread_pool threads;
  };
  std::vector<std::unique_ptr<Lane>> lanes_;  ///< the first is for what asks no store
};

}  // namespace holdfast::server
