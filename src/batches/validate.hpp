#pragma once

#include <span>

#include <holdfast/batch.hpp>
#include <holdfast/settings.hpp>

namespace holdfast {

/// Throws `InvalidRequest` if this cannot be the name of an application and of an operation.
void validate_names(const std::string& app, const std::string& op);
/// Throws `InvalidRequest` naming the line of the first row that cannot be one.
void validate_rows(std::span<const BatchRow> rows, const Settings& settings);
void validate(const NewBatch& batch, const Settings& settings);

}  // namespace holdfast
