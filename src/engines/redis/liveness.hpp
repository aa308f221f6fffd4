#pragma once

#include <holdfast/liveness.hpp>

#include "engines/redis/nodes.hpp"

namespace holdfast::redis {

/// In the keys of the services that the tables of batches are shared with:
///
///     ALYA_WORKER_REGISTRY         set: workers, also those that died and nobody has looked after
///     ALYA_{worker}_HEARTBEAT      "alive", for as long as a heartbeat is believed
///     ALYA_{worker}_ROWS           set: numbers of rows; gone when it has not been heard of for
///     long ALYA_{batch}_STATUS          the batch's status ALYA_{batch}_SUMMARY         JSON of an
///     ended one: status, outputFiles, nsuccess, nfailed,
///                                  naborted
///     ALYA_{batch}_OUTFILES        JSON: keys of blobs by the names of files
///     ALYA_{batch}_RESULT          JSON: of a slow query
///
/// What is in braces decides the node of a cluster. The registry says who there is, so that nobody
/// has to search through keys, which would find only those of one node.
class RedisLiveness final : public Liveness {
 public:
  explicit RedisLiveness(Address address);

  void beat(const std::string& worker, std::span<const std::int64_t> rows,
            const Times& times) override;
  void track(const std::string& worker, std::span<const std::int64_t> begun,
             std::span<const std::int64_t> ended, const Times& times) override;
  void leave(const std::string& worker) override;
  std::vector<Peer> peers() override;
  void forget(const Peer& dead) override;
  void cache(const BatchRecord& batch, const std::optional<std::string>& result) override;
  std::optional<BatchStatus> cached(BatchId batch) override;
  std::string name() const override { return nodes_.address().name(); }

 private:
  Peer look_at(std::string worker);

  Nodes nodes_;
};

}  // namespace holdfast::redis
