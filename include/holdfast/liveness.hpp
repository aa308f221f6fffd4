#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/batch.hpp>

namespace holdfast {

/// What workers of batches tell each other beside the store: that they live, which rows they have,
/// and how batches stand. It is a second opinion and a cache. The store is the truth, and nothing
/// stops when all of this is lost or cannot be reached. Workers of another make that share the
/// tables know nothing else, though, and read and write the same.
///
/// Every method may throw `StoreError`. Safe to use from many threads.
class Liveness {
 public:
  virtual ~Liveness() = default;

  /// How long is believed what a worker said about itself.
  struct Times {
    Millis heartbeat{60'000};
    Millis rows{180'000};
  };

  /// A worker lives, and has exactly these rows.
  virtual void beat(const std::string& worker, std::span<const std::int64_t> rows,
                    const Times& times) = 0;
  /// It has begun these rows, and has ended those.
  virtual void track(const std::string& worker, std::span<const std::int64_t> begun,
                     std::span<const std::int64_t> ended, const Times& times) = 0;
  /// It has no row any more and goes.
  virtual void leave(const std::string& worker) = 0;

  struct Peer {
    std::string worker{};
    bool alive = false;  ///< its heartbeat is there
    std::vector<std::int64_t> rows{};
  };
  /// Everybody who is registered.
  virtual std::vector<Peer> peers() = 0;
  /// What a dead one left has been seen to: it need not be looked at again, unless it is heard of.
  virtual void forget(const Peer& dead) = 0;

  /// Notes how a batch stands, for a while; for a long while if it has ended. `result` is that of
  /// the only row of a slow query.
  virtual void cache(const BatchRecord& batch, const std::optional<std::string>& result) = 0;
  /// What was noted, by whomever.
  virtual std::optional<BatchStatus> cached(BatchId batch) = 0;

  /// For messages.
  virtual std::string name() const = 0;
};

/// Opens it by its address, `redis://HOST:PORT` and so on: a server or any node of a cluster. It is
/// not connected to before it is used. Throws `ConfigError` for an address that makes no sense.
std::shared_ptr<Liveness> open_liveness(std::string_view address);

}  // namespace holdfast
