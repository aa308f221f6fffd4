#pragma once

#include <string>

#include <holdfast/batch.hpp>

namespace holdfast {

/// The documented JSON of a batch, and of a row.
std::string batch_json(const BatchRecord& batch);
std::string row_json(const RowRecord& row);

}  // namespace holdfast
