#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batches/batch_store.hpp"

namespace holdfast {

/// What the processing of a unit came to, as it travels in `Settlement::result`.
struct UnitResult {
  BatchStatus status = BatchStatus::success;
  std::string result{};
  std::string messages{};
  std::string output{};
  BatchCounts counts{};  ///< of a summary
};
std::string pack(const UnitResult& result);
UnitResult unpack_result(std::string_view packed);

/// JSON text as the tables keep it; empty: there is nothing to keep.
std::string messages_json(const std::vector<RowMessage>& messages);
std::string names_json(const std::map<std::string, std::string>& by_name);
std::map<std::string, std::string> names_from_json(std::string_view json);

}  // namespace holdfast
