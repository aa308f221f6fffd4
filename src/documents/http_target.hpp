#pragma once

#include <string>

#include <holdfast/task.hpp>

namespace holdfast {

/// Where a request goes to. Both are empty where the payload does not say: it may be encrypted, or
/// elsewhere.
struct HttpTarget {
  std::string method{};
  std::string host{};
};
HttpTarget target_of(const TaskRecord& task);

/// The host of a URL, with its port.
std::string host_of(const std::string& url);

}  // namespace holdfast
