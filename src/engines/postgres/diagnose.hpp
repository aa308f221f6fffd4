#pragma once

#include <holdfast/diagnosis.hpp>

#include "engines/postgres/address.hpp"

namespace holdfast::postgres {

/// How a store on a server is, as far as it can be seen from here.
Diagnosis diagnose(const Address& address, const DiagnosisOptions& options, Settings settings);

}  // namespace holdfast::postgres
