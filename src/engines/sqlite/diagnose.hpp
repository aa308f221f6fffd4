#pragma once

#include <holdfast/diagnosis.hpp>

#include "recovery/clock.hpp"

namespace holdfast::sqlite {

/// See `holdfast::diagnose`.
Diagnosis diagnose(const std::string& path, const DiagnosisOptions& options, Settings settings,
                   const Clock& clock = system_clock());

}  // namespace holdfast::sqlite
