#include <holdfast/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "recovery/metrics_text.hpp"

namespace holdfast {

Histogram::Histogram(std::vector<double> bounds)
    : bounds_{std::move(bounds)}, counts_(bounds_.size() + 1) {}

void Histogram::observe(double value) {
  auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<std::uint64_t> Histogram::counts() const {
  std::vector<std::uint64_t> counts;
  for (const auto& count : counts_) counts.push_back(count.load(std::memory_order_relaxed));
  return counts;
}

/// All that have one name: the same help and the same type, different labels.
struct Metrics::Family {
  using Any = std::variant<Counter, Gauge, Histogram>;
  std::string help;
  // Nodes of a map and what a unique_ptr points to stay where they are.
  std::map<Labels, std::unique_ptr<Any>> members{};
};

template <class T, class... Args>
T& Metrics::find(const std::string& name, const std::string& help, const Labels& labels,
                 Args&&... args) {
  std::lock_guard lock{mutex_};
  auto& family = families_[name];
  if (!family) family = std::make_shared<Family>(Family{help});
  auto& member = family->members[labels];
  if (!member)
    member = std::make_unique<Family::Any>(std::in_place_type<T>, std::forward<Args>(args)...);
  return std::get<T>(*member);
}

Counter& Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  return find<Counter>(name, help, labels);
}

Gauge& Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return find<Gauge>(name, help, labels);
}

Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                              std::vector<double> bounds, const Labels& labels) {
  return find<Histogram>(name, help, labels, std::move(bounds));
}

std::string Metrics::text(const Labels& common) const {
  MetricsText text{common};
  std::lock_guard lock{mutex_};
  for (const auto& [name, family] : families_) {
    constexpr const char* types[] = {"counter", "gauge", "histogram"};
    text.family(name, family->help, types[family->members.begin()->second->index()]);
    for (const auto& [labels, member] : family->members) {
      if (const auto* counter = std::get_if<Counter>(&*member))
        text.sample(name, labels, static_cast<double>(counter->value()));
      else if (const auto* gauge = std::get_if<Gauge>(&*member))
        text.sample(name, labels, gauge->value());
      else
        text.histogram(name, labels, std::get<Histogram>(*member));
    }
  }
  return text.str();
}

MetricsText::MetricsText(Labels common) : common_{std::move(common)} {}

void MetricsText::family(std::string_view name, std::string_view help, std::string_view type) {
  text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void MetricsText::sample(std::string_view name, const Labels& labels, double value) {
  text_ += name;
  std::string list;
  for (const Labels* some : {&std::as_const(common_), &labels}) {
    for (const auto& [label, content] : *some)
      list += fmt::format("{}{}=\"{}\"", list.empty() ? "" : ",", label, escaped(content));
  }
  if (!list.empty()) text_ += fmt::format("{{{}}}", list);
  // Whole numbers without an exponent, for whoever reads it with simpler means than Prometheus.
  bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  text_ +=
      whole ? fmt::format(" {}\n", static_cast<std::int64_t>(value)) : fmt::format(" {}\n", value);
}

void MetricsText::histogram(std::string_view name, const Labels& labels,
                            const Histogram& histogram) {
  auto counts = histogram.counts();
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    so_far += counts[i];
    bool last = i == histogram.bounds().size();
    auto with_bound = labels;
    with_bound.emplace_back("le", last ? "+Inf" : fmt::format("{}", histogram.bounds()[i]));
    sample(fmt::format("{}_bucket", name), with_bound, static_cast<double>(so_far));
  }
  sample(fmt::format("{}_sum", name), labels, histogram.sum());
  sample(fmt::format("{}_count", name), labels, static_cast<double>(so_far));
}

std::string MetricsText::escaped(std::string_view content) {
  std::string text;
  for (char each : content) {
    if (each == '\\' || each == '"') text += '\\';
    if (each == '\n')
      text += "\\n";
    else
      text += each;
  }
  return text;
}

}  // namespace holdfast
