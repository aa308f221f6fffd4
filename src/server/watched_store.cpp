#include "server/watched_store.hpp"

namespace holdfast::server {

WatchedStore::WatchedStore(OpenedStore opened, std::shared_ptr<Hub> events,
                           const std::optional<TraceOptions>& tracing)
    : engine{opened.engine},
      output{std::move(opened.output)},
      is_new{opened.is_new},
      counters{count_events(engine)},
      history{std::make_shared<History>(engine)},
      reach{engine},
      watcher{engine, std::move(events), history},
      remote{engine},
      recovery{engine},
      messages{std::move(opened.broker)} {
  if (!tracing) return;
  auto counted = *tracing;
  counted.metrics = counters;
  traces.emplace(engine, std::move(counted));
}

}  // namespace holdfast::server
