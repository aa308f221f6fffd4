#pragma once

#include <span>

#include <holdfast/batch.hpp>
#include <holdfast/settings.hpp>

namespace holdfast {

/// Throws `InvalidRequest` if this cannot be the name of an application and of an operation.
void validate_names(const std::string& app, const std::string& op);
/// Why this cannot be the input of a row; empty if it can.
std::string input_fault(const std::string& input, std::int64_t most_bytes);
/// Throws `InvalidRequest` naming the line of the first row that cannot be one.
void validate_rows(std::span<const BatchRow> rows, const Settings& settings);
void validate(const NewBatch& batch, const Settings& settings);

}  // namespace holdfast
