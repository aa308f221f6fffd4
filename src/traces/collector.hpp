#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using CURL = void;
struct curl_slist;

namespace holdfast {

/// What became of a document that was sent.
enum class Sending {
  taken,
  refused,  ///< it would be refused again
  away,     ///< nobody there, or too busy: try again later
};

/// The address of traces at a collector, from what people write; with `exact`, that itself. Throws
/// `ConfigError` for what is no address.
std::string traces_address(const std::string& endpoint, bool exact = false);

/// Sends documents to a collector, one at a time, over a connection that is kept.
class Collector {
 public:
  /// Throws `ConfigError` for a header that would not be one header.
  Collector(std::string address, const std::vector<std::pair<std::string, std::string>>& headers);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  Sending send(const std::string& document, std::chrono::milliseconds limit);

 private:
  std::string address_;
  CURL* handle_;
  curl_slist* headers_ = nullptr;
};

}  // namespace holdfast
