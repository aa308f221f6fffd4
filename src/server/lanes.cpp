#include "server/lanes.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace holdfast::server {

namespace {

constexpr int most_jobs_waiting = 512;  ///< jobs of one lane for whom no thread is free yet
/// Two of them may be checking passwords.
constexpr int without_store = 4;

}  // namespace

Lanes::Lanes(std::size_t stores, int threads_of_each) {
  lanes_.push_back(std::make_unique<Lane>(without_store));
  for (std::size_t i = 0; i < stores; ++i)
    lanes_.push_back(std::make_unique<Lane>(threads_of_each));
}

bool Lanes::work(std::optional<std::size_t> store, std::function<void()> job) {
  auto& lane = *lanes_.at(store ? *store + 1 : 0);
  if (lane.waiting >= most_jobs_waiting) return false;
  ++lane.waiting;
  boost::asio::post(lane.threads, [&lane, job = std::move(job)] {
    job();
    --lane.waiting;
    ++lane.done;
  });
  return true;
}

void Lanes::join() {
  for (auto& lane : lanes_) lane->threads.join();
}

}  // namespace holdfast::server
