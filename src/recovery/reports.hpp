#pragma once

#include <vector>

#include <holdfast/report.hpp>

namespace holdfast {

/// Where recovery leaves its reports, and where refused writes are counted.
class Reports {
 public:
  virtual ~Reports() = default;
  /// Stores a report (the newest few hundred are kept).
  virtual void file(const RecoveryReport& report) = 0;
  /// Newest first.
  virtual std::vector<RecoveryReport> newest(int count) = 0;
  /// Stale writes refused since the store was made.
  virtual std::int64_t stale_writes_refused() = 0;
};

}  // namespace holdfast
