#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/postgres/server_clock.hpp"
#include "engines/postgres/session.hpp"
#include "engines/postgres/writer.hpp"
#include "recovery/host_files.hpp"

namespace holdfast::postgres {

/// The connection of this process for questions, one thread at a time.
class Reader {
 public:
  Reader(std::shared_ptr<const Dialect> dialect, Durability durability)
      : link_{std::move(dialect), durability, Connection::Purpose::looking} {}

  /// Runs `work(Connection&)`. It is run again if the connection had died meanwhile.
  template <class F>
  auto read(F&& work) {
    return with_connection([&](Connection& db) {
      db.tell_time();
      return work(db);
    });
  }

  /// The same for what people ask, with as many rows as they like: the server gives up on a
  /// statement that takes longer than `Connection::limit_time` says.
  template <class F>
  auto answer(F&& work) {
    return with_connection([&](Connection& db) {
      const TimeLimit limit{db};
      db.tell_time();
      return work(db);
    });
  }

 private:
  template <class F>
  auto with_connection(F&& work) {
    std::lock_guard lock{mutex_};
    try {
      return work(link_.get());
    } catch (const ConnectionLost&) {
      link_.drop();
      return work(link_.get());
    }
  }

  std::mutex mutex_;
  Link link_;
};

/// What the parts of one open store share.
struct Store {
  Store(const Address& address, const Settings& settings, const Clock& clock, const Events& events);

  std::shared_ptr<const Dialect> dialect;
  ServerClock clock;
  Durability durability;
  std::string why_read_only{};  ///< empty: it may be written to
  bool syncs = true;            ///< false: `fsync` of the server is off
  Writer writer;
  Writer claimer;  ///< for those who only claim, so that others settle at the same time
  Writer stepper;  ///< for steps of transactions, which need not wait for claims and settlements
  Reader reader;
  Session session;
  HostFiles files;
};

/// A number for an advisory lock that stands for this id.
template <class Tag>
std::int64_t lock_key(const Id<Tag>& id) {
  std::uint64_t key = 0;
  for (std::size_t i = 8; i < 16; ++i) key = key << 8 | id.bytes[i];
  return static_cast<std::int64_t>(key);
}

}  // namespace holdfast::postgres
