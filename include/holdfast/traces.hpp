#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/engine.hpp>
#include <holdfast/metrics.hpp>

/// Traces for OpenTelemetry: every attempt in this process is a span. docs/operations.md.
namespace holdfast {

struct TraceOptions {
  /// Of a collector that speaks OTLP over HTTP, such as `http://127.0.0.1:4318`. `/v1/traces` is
  /// added unless the address ends with it.
  std::string endpoint{};
  bool exact = false;                ///< `endpoint` is the whole address: nothing is added
  std::string service = "holdfast";  ///< `service.name`
  /// Sent with every request, such as a key that the collector wants.
  std::vector<std::pair<std::string, std::string>> headers{};
  /// So many spans wait at the most while the collector is away; more are dropped, and counted.
  std::size_t most_waiting = 10'000;
  /// What is sent is counted here, too; nothing: only here.
  std::shared_ptr<Metrics> metrics{};
};

/// Sends a span for every attempt that ends in this process, as long as it lives. It has a thread
/// of its own and bounded memory, and no worker ever waits for it.
///
/// The attempts of a task are in the trace of whoever enqueued it where that said so
/// (`trace_tags`), else in one of their own whose id is the task's.
class TraceExport {
 public:
  /// Throws `ConfigError` for an address or a header that makes no sense. The collector may be
  /// away.
  TraceExport(const Engine& engine, TraceOptions options);
  /// Tries for a moment to send what is left.
  ~TraceExport();
  TraceExport(const TraceExport&) = delete;
  TraceExport& operator=(const TraceExport&) = delete;

 private:
  class Sender;
  std::shared_ptr<Sender> sender_;
};

/// Tags for a task that belongs to a trace, from the `traceparent` of W3C's Trace Context:
/// `trace-<its id>` and `span-<its parent>`. Nothing if it is none.
std::vector<std::string> trace_tags(std::string_view traceparent);

}  // namespace holdfast
