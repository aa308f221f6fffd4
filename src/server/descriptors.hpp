#pragma once

#include <cstddef>
#include <memory>

namespace holdfast::server {

/// How the descriptors of this process are shared out, so that neither connections nor remote
/// workers take those that stores, files and each other need.
struct DescriptorPlan {
  std::size_t connections = 0;
  std::size_t workers = 0;  ///< remote ones, each with a lock file and perhaps a connection
};
inline constexpr std::size_t most_connections = 4'096;
inline constexpr std::size_t most_remote_workers = 1'000;

/// Of so many descriptors.
DescriptorPlan share_out(std::size_t descriptors, std::size_t wanted_connections);
/// Raises the limit of this process as far as that is of use, and shares out what there is.
DescriptorPlan plan_descriptors(std::size_t wanted_connections = most_connections);

/// The right of one remote worker to its descriptors, given back when it is destroyed.
class WorkerSeat {
 public:
  ~WorkerSeat();
  WorkerSeat(const WorkerSeat&) = delete;
  WorkerSeat& operator=(const WorkerSeat&) = delete;

 private:
  friend std::unique_ptr<WorkerSeat> take_worker_seat();
  WorkerSeat() = default;
};
/// Nothing: all are taken, by whichever stores this process serves. Safe from any thread.
std::unique_ptr<WorkerSeat> take_worker_seat();
void set_worker_seats(std::size_t seats);
std::size_t worker_seats();

}  // namespace holdfast::server
