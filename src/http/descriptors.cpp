#include "http/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include <fmt/format.h>
#include <holdfast/error.hpp>

namespace holdfast::http {

void allow_descriptors_for(const ProcessorOptions& options) {
  /// For the store, blobs, and what the program has besides.
  constexpr rlim_t others = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  auto most = static_cast<rlim_t>(std::max(options.capacity, options.idle_connections));
  if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= most + others) return;
  auto room = limit.rlim_max > others ? limit.rlim_max - others : 0;
  throw ConfigError{fmt::format(
      "this process may have {} files open (ulimit -n), which is too few for {} connections; allow "
      "{} or lower the capacity{} to {}",
      limit.rlim_max, most, most + others,
      options.idle_connections > options.capacity ? " and the idle connections" : "", room)};
}

}  // namespace holdfast::http
