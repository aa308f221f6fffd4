#pragma once

#include "engines/sqlite/store.hpp"
#include "recovery/reports.hpp"

namespace holdfast::sqlite {

class SqliteReports final : public Reports {
 public:
  explicit SqliteReports(Store& store) : store_{store} {}

  void file(const RecoveryReport& report) override;
  std::vector<RecoveryReport> newest(int count) override;
  std::int64_t stale_writes_refused() override;

 private:
  Store& store_;
};

}  // namespace holdfast::sqlite
