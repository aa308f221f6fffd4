#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/engine.hpp>

/// Numbers for monitoring, as text in the exposition format of Prometheus. Their names are listed
/// in docs/metrics.md and stay.
namespace holdfast {

/// Only grows. Adding is one atomic instruction, from any thread.
class Counter {
 public:
  void add(std::uint64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Goes up and down. Setting it is one atomic instruction, from any thread.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

/// How often a value fell below which bound. Observing takes no lock.
class Histogram {
 public:
  /// `bounds` grow; what is above the last one is counted too.
  explicit Histogram(std::vector<double> bounds);
  void observe(double value);

  const std::vector<double>& bounds() const { return bounds_; }
  /// For each bound, and beyond the last: so many were at most that and above the one before.
  std::vector<std::uint64_t> counts() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Counters, gauges and histograms by name and labels. Keep the reference that you get: looking it
/// up takes a lock, using it does not. References live as long as the registry.
class Metrics {
 public:
  Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& histogram(const std::string& name, const std::string& help, std::vector<double> bounds,
                       const Labels& labels = {});
  /// All of them. `common` labels are added to each.
  std::string text(const Labels& common = {}) const;

 private:
  struct Family;
  template <class T, class... Args>
  T& find(const std::string& name, const std::string& help, const Labels& labels, Args&&... args);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Family>> families_;
};

/// Counts from now on what happens in this process with `engine`: recoveries, orphans, transitions
/// of tasks, refused writes, deaths, failed heartbeats.
std::shared_ptr<Metrics> count_events(const Engine& engine);

/// What is in the store, by asking it: tasks by state, workers, and what recovery did since the
/// store was made. The same from whichever process asks.
std::string store_metrics(const Engine& engine);
/// Of a store that does not open because a person must decide first: only that it is so. `address`
/// names it.
std::string halted_store_metrics(const std::string& address);

/// Keeps a file up to date with what `count_events` counts, for the textfile collector of
/// Prometheus' node exporter or anything else that reads files. Each version replaces the file in
/// one step, so that nobody reads half of one. Every sample has the labels `store` and `process`,
/// the file's name without its ending, because samples of several processes on one host must
/// differ.
class MetricsFile {
 public:
  /// Writes it once; throws `ConfigError` if that cannot be done.
  MetricsFile(const Engine& engine, std::string path,
              std::chrono::milliseconds every = std::chrono::seconds{5});
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;
  /// What is written there, for what else is to be counted.
  std::shared_ptr<Metrics> metrics() const { return metrics_; }

 private:
  void write() const;

  Engine engine_;
  std::shared_ptr<Metrics> metrics_;
  std::string path_;
  Labels common_;
  std::jthread thread_;  // last: ends before what it uses is gone
};

}  // namespace holdfast
