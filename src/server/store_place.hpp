#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "server/watched_store.hpp"

namespace holdfast::server {

/// A store that is to be served, and how to open it.
struct StoreToServe {
  std::string name;  ///< its address without secrets
  std::function<OpenedStore()> open;
  /// It is a server somewhere, which may come later than we do. Anything else is here or is a
  /// mistake.
  bool may_be_away = false;
};

/// For one that is open already.
StoreToServe at_hand(Engine engine, std::shared_ptr<BlobStore> output = {});

/// Where the server has one of its stores. One that is away is tried again until it is there; its
/// place is there from the beginning, and says why it is empty. Safe to use from many threads.
class StorePlace {
 public:
  /// `id`: `1`, `2`, as it was named on the command line. Begins to open it.
  StorePlace(std::string id, StoreToServe wanted, std::optional<TraceOptions> tracing);

  /// Until the first try has ended; for one that may be away, some seconds at most. Throws what
  /// somebody must mend before this server can be of use.
  void wait_for_first_try();

  const std::string& id() const { return id_; }
  std::string name() const;
  const std::shared_ptr<Hub>& hub() const { return hub_; }
  /// Null while it could not be opened yet. What is there, stays.
  WatchedStore* store() const;
  /// How it is, for whoever must not wait for it.
  Reach::Found found() const;
  /// Why it cannot be asked now; empty: it can. Waits for nobody.
  std::string trouble() const;

 private:
  void run(std::stop_token stop);
  std::string why_empty() const;

  std::string id_;
  StoreToServe wanted_;
  std::optional<TraceOptions> tracing_;
  std::shared_ptr<Hub> hub_ = std::make_shared<Hub>();

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unique_ptr<WatchedStore> store_{};
  std::string failure_{};  ///< of the last try
  std::exception_ptr first_failure_{};
  bool tried_ = false;
  Millis began_{0};      ///< steady; the try that is under way
  std::jthread thread_;  // last: ends before what it uses is gone
};

}  // namespace holdfast::server
