#include "server/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>

namespace holdfast::server {

namespace {

/// For stores, files that are downloaded, the audit log, and what libraries open.
constexpr std::size_t files_of_our_own = 128;
constexpr std::size_t files_of_worker = 2;

std::atomic<std::size_t> seats = most_remote_workers;
std::atomic<std::size_t> seats_taken = 0;

}  // namespace

DescriptorPlan share_out(std::size_t descriptors, std::size_t wanted_connections) {
  const auto own = std::min(files_of_our_own, descriptors / 4);
  const auto left = descriptors - own;
  const auto connections = std::max<std::size_t>(8, std::min(wanted_connections, left * 2 / 3));
  const auto rest = left > connections ? left - connections : 0;
  return {connections, std::min(most_remote_workers, rest / files_of_worker)};
}

DescriptorPlan plan_descriptors(std::size_t wanted_connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return share_out(256, wanted_connections);
  const rlim_t useful =
      wanted_connections + files_of_our_own + most_remote_workers * files_of_worker;
  const auto before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(limit.rlim_max, useful));
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  return share_out(std::min(limit.rlim_cur, useful), wanted_connections);
}

void set_worker_seats(std::size_t count) { seats = count; }
std::size_t worker_seats() { return seats; }

std::unique_ptr<WorkerSeat> take_worker_seat() {
  if (++seats_taken <= seats) return std::unique_ptr<WorkerSeat>{new WorkerSeat};
  --seats_taken;
  return nullptr;
}

WorkerSeat::~WorkerSeat() { --seats_taken; }

}  // namespace holdfast::server
