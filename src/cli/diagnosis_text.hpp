#pragma once

#include <string>

#include <holdfast/diagnosis.hpp>

namespace holdfast::cli {

/// One line for each thing that was looked at, then what to do.
std::string diagnosis_text(const Diagnosis& diagnosis);
/// One JSON object.
std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace holdfast::cli
