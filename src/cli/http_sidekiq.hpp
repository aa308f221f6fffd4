#pragma once

#include <string>

#include <holdfast/http/processor.hpp>

#include "cli/context.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What `http run` can be told about Sidekiq, whose Redis it works with where the store's address
/// begins with sidekiq+.
struct SidekiqFlags {
  std::string callback_queue{};
  std::string heartbeat{}, orphans{}, shutdown{};
  int retries = -1, recoveries = -1;  ///< not given
  bool hold = false;
  bool require_bound = false;  ///< see `SidekiqOptions::require_bound_secrets`

  bool any() const;
};

void add_sidekiq_flags(CLI::App& command, SidekiqFlags& flags);
Exit run_sidekiq(Context& context, const http::ProcessorOptions& processing,
                 const SidekiqFlags& flags);
Exit list_sidekiq(Context& context, int limit);
Exit count_sidekiq(Context& context);

/// Whether the store that was named is Sidekiq's Redis.
bool is_sidekiq(Context& context);

}  // namespace holdfast::cli
