#pragma once

#include <holdfast/diagnosis.hpp>

#include "recovery/clock.hpp"
#include "recovery/private_files.hpp"

namespace holdfast::sqlite {

/// See `holdfast::diagnose`.
Diagnosis diagnose(const std::string& path, const DiagnosisOptions& options, Settings settings,
                   FilesFor files_for = FilesFor::owner, const Clock& clock = system_clock());

}  // namespace holdfast::sqlite
