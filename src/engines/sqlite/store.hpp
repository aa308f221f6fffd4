#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <holdfast/events.hpp>

#include "engines/sqlite/connection.hpp"
#include "engines/sqlite/side_files.hpp"
#include "engines/sqlite/start_up.hpp"
#include "engines/sqlite/wake.hpp"
#include "engines/sqlite/writer.hpp"
#include "recovery/clock.hpp"

namespace holdfast::sqlite {

/// The reading connections of this process. A read takes one for itself; others are opened only
/// when several threads read at once, so that a long look does not hold up short ones. Reads are
/// short: while a snapshot is held, the WAL cannot be started anew.
class Reader {
 public:
  using Open = std::function<std::unique_ptr<Connection>()>;
  /// `another` opens one more; where it is empty, one has to do.
  Reader(std::unique_ptr<Connection> first, Open another);

  template <class F>
  auto read(F&& work) {
    auto taken = take();
    return work(*taken);
  }

 private:
  struct GiveBack {
    Reader* reader;
    void operator()(Connection* connection) const { reader->give_back(connection); }
  };
  std::unique_ptr<Connection, GiveBack> take();
  void give_back(Connection* connection);

  std::mutex mutex_;
  std::condition_variable returned_;
  Open another_;
  std::size_t opened_ = 1;
  std::vector<std::unique_ptr<Connection>> free_;
};

/// What the parts of one open store share.
struct Store {
  Store(const std::string& file, Opened opened, const Settings& settings, Stay stay,
        const Clock& clock, const Events& events);
  ~Store();

  std::string path;
  SideFiles files;
  RunLevel level;
  std::string why_read_only;
  std::atomic<bool> keep_mark;          ///< see `Opened`
  std::unique_ptr<OpenLock> open_lock;  ///< given back after the connections are closed
  const Clock& clock;
  std::string clock_domain;
  Writer writer;
  Reader reader;
  WorkWatch watch;

  /// The token of a new owner is at least this. Time, not a counter, so that tokens do not repeat
  /// after an older copy of the file was put back.
  std::int64_t token_floor() const { return clock.wall().time_since_epoch().count() * 1000; }
};

}  // namespace holdfast::sqlite
