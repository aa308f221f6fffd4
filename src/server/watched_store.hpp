#pragma once

#include <memory>
#include <optional>
#include <string>

#include <holdfast/blobs.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/traces.hpp>

#include "server/message_desk.hpp"
#include "server/reach.hpp"
#include "server/recovery_loop.hpp"
#include "server/remote_workers.hpp"
#include "server/watcher.hpp"

namespace holdfast::server {

/// What opening a store gives.
struct OpenedStore {
  Engine engine;
  std::shared_ptr<BlobStore> output{};  ///< where output files of batches are; nothing: not known
  bool is_new = false;                  ///< there was none before
  /// The broker of its transactions and results; nothing: it has none that this process knows.
  MessageDesk::Open broker{};
};

/// An open store, and what the server does with it as long as it runs.
struct WatchedStore {
  WatchedStore(OpenedStore opened, std::shared_ptr<Hub> events,
               const std::optional<TraceOptions>& tracing);

  Engine engine;
  std::shared_ptr<BlobStore> output;
  bool is_new;
  std::shared_ptr<Metrics> counters;  ///< of what happens in this process
  std::optional<TraceExport> traces{};
  std::shared_ptr<History> history;
  Reach reach;
  Watcher watcher;
  RemoteWorkers remote;
  RecoveryLoop recovery;
  MessageDesk messages;
};

}  // namespace holdfast::server
