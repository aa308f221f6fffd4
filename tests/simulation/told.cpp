#include "simulation/told.hpp"

#include <cstdlib>

namespace holdfast::sim {

std::string to_text(const Told& told) {
  std::string text = told.trace;
  for (const auto& finding : told.findings)
    text += fmt::format("{}: {}\n", to_string(finding.defect), finding.text);
  return text + fmt::format("again with HOLDFAST_SIM_SEED={}\n", told.seed);
}

std::optional<std::uint64_t> number_from(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value || !*value) return {};
  return std::strtoull(value, nullptr, 10);
}

}  // namespace holdfast::sim
