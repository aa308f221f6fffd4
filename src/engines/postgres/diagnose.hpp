#pragma once

#include <holdfast/diagnosis.hpp>

#include "engines/postgres/address.hpp"

namespace holdfast::postgres {

/// How a store on a server is, as far as it can be seen from here.
Diagnosis diagnose(const Address& address, const DiagnosisOptions& options, Settings settings);

/// Whether the schema has tables of ours. Changes nothing.
bool holds_store(const Address& address);

}  // namespace holdfast::postgres
