#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <holdfast/error.hpp>
#include <holdfast/inspector.hpp>
#include <holdfast/traces.hpp>

#include "traces/collector.hpp"
#include "traces/span_book.hpp"

namespace holdfast {

namespace {

constexpr std::size_t spans_at_once = 500;
constexpr Millis between_rounds{1'000};
constexpr Millis longest_request{10'000};
constexpr Millis longest_goodbye{2'000};
constexpr Millis longest_pause{30'000};

}  // namespace

/// Shared with the subscription to events, which has no end.
class TraceExport::Sender {
 public:
  Sender(const Engine& engine, const TraceOptions& options)
      : service_{options.service},
        store_{engine.name()},
        metrics_{options.metrics ? options.metrics : std::make_shared<Metrics>()},
        book_{options.most_waiting},
        collector_{traces_address(options.endpoint, options.exact), options.headers} {}

  void hear(const Event& event) {
    if (!listening_) return;
    if (const auto* refused = std::get_if<StaleWriteRefused>(&event)) book_.forget(refused->id);
    const auto* changed = std::get_if<TaskChanged>(&event);
    if (changed && !book_.hear(*changed)) dropped_.add();
  }

  void begin(const Engine& engine) {
    thread_ = std::jthread{[this, engine](std::stop_token stop) { run(engine, stop); }};
  }

  void end() {
    listening_ = false;
    thread_.request_stop();
    thread_.join();
  }

 private:
  void run(const Engine& engine, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    auto pause = between_rounds;
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock{mutex};
        wake.wait_for(lock, stop, pause, [] { return false; });
      }
      if (stop.stop_requested()) break;
      auto delivery = Sending::taken;
      while (!stop.stop_requested() && delivery != Sending::away && book_.waiting() > 0)
        delivery = send_some(engine, longest_request);
      // A collector that is away is asked less and less often.
      pause = delivery == Sending::away ? std::min(2 * pause, longest_pause) : between_rounds;
    }
    say_goodbye(engine);
  }

  void say_goodbye(const Engine& engine) {
    const auto until = std::chrono::steady_clock::now() + longest_goodbye;
    while (book_.waiting() > 0) {
      const auto left =
          std::chrono::duration_cast<Millis>(until - std::chrono::steady_clock::now());
      if (left <= Millis{0} || send_some(engine, left) == Sending::away) break;
    }
    dropped_.add(book_.waiting());
  }

  Sending send_some(const Engine& engine, Millis limit) {
    auto spans = book_.first(spans_at_once);
    look_up(spans, engine);
    const auto delivery = collector_.send(otlp_json(spans, service_, store_), limit);
    if (delivery == Sending::away) return delivery;
    book_.take_out(spans.size());
    (delivery == Sending::taken ? sent_ : dropped_).add(spans.size());
    return delivery;
  }

  /// Events say little about a task. What else is to be told stands in the store, if it is there.
  static void look_up(std::vector<AttemptSpan>& spans, const Engine& engine) {
    std::unordered_map<TaskId, TaskRecord> records;
    TaskFilter filter;
    for (const auto& span : spans) filter.ids.push_back(span.task);
    try {
      const auto limit = static_cast<int>(filter.ids.size());
      for (auto& record : Inspector{engine}.tasks(filter, {.limit = limit}))
        records[record.id] = std::move(record);
    } catch (const StoreError&) {
      // Then the spans say less. The worker tells of a store that is away.
    }
    for (auto& span : spans) {
      const auto found = records.find(span.task);
      if (found == records.end()) continue;
      span.queue = found->second.queue;
      span.context = trace_context(found->second.tags);
    }
  }

  Counter& counter(const char* result) {
    return metrics_->counter("holdfast_trace_spans_total",
                             "Spans of attempts, by what became of them.", {{"result", result}});
  }

  std::string service_, store_;
  std::shared_ptr<Metrics> metrics_;
  Counter& sent_ = counter("sent");
  Counter& dropped_ = counter("dropped");
  SpanBook book_;
  Collector collector_;
  std::atomic<bool> listening_ = true;
  std::jthread thread_;
};

TraceExport::TraceExport(const Engine& engine, TraceOptions options)
    : sender_{std::make_shared<Sender>(engine, options)} {
  sender_->begin(engine);
  engine.events().subscribe([sender = sender_](const Event& event) { sender->hear(event); });
}

TraceExport::~TraceExport() { sender_->end(); }

}  // namespace holdfast
