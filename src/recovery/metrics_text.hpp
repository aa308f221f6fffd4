#pragma once

#include <string>
#include <string_view>

#include <holdfast/metrics.hpp>

namespace holdfast {

/// Writes samples in the text format of Prometheus: https://prometheus.io/docs/instrumenting/
class MetricsText {
 public:
  /// `common` labels are put before those of each sample.
  explicit MetricsText(Labels common);

  /// Comes before the samples of that name. `type` is `counter`, `gauge` or `histogram`.
  void family(std::string_view name, std::string_view help, std::string_view type);
  void sample(std::string_view name, const Labels& labels, double value);
  void histogram(std::string_view name, const Labels& labels, const Histogram& histogram);

  const std::string& str() const { return text_; }

 private:
  static std::string escaped(std::string_view content);

  Labels common_;
  std::string text_;
};

}  // namespace holdfast
