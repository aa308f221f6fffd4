#pragma once

#include <string>
#include <vector>

namespace holdfast {

/// Where a span belongs. Ids are in hexadecimal.
struct TraceContext {
  std::string trace{};
  std::string parent{};  ///< the span of whoever enqueued the task
};

/// What `trace_tags` put there; empty where there is nothing.
TraceContext trace_context(const std::vector<std::string>& tags);

}  // namespace holdfast
