#pragma once

#include <any>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <holdfast/batches.hpp>

#include "batches/batch_store.hpp"

namespace holdfast {

/// Turns attempts at units into calls of processors, in the threads of a worker.
class Processing {
 public:
  using Processors = std::map<std::pair<std::string, std::string>, RowProcessor>;
  Processing(Engine engine, BatchOptions options, Processors processors,
             std::map<std::string, AppInitialiser> initialisers);

  Outcome process(const std::string& app, const std::string& op, Attempt& attempt);

 private:
  Outcome process_row(const std::string& app, const std::string& op, Attempt& attempt);
  Outcome leave_to_others(const RowAttempt& row) const;
  RowResult ask(const RowProcessor& processor, const RowAttempt& row) const;
  std::shared_ptr<const std::string> context_of(BatchId batch);
  std::any state_of(const std::string& app);

  Engine engine_;
  BatchStore& store_;
  BatchOptions options_;
  Processors processors_;
  std::map<std::string, AppInitialiser> initialisers_;

  std::mutex mutex_;  // guards what follows
  std::map<BatchId, std::shared_ptr<const std::string>> contexts_;
  std::map<std::string, std::any> states_;
};

}  // namespace holdfast
