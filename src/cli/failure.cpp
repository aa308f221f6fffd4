#include "cli/failure.hpp"

#include <holdfast/error.hpp>

namespace holdfast::cli {

namespace {

template <class Kind>
bool is(const std::exception& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

}  // namespace

Exit exit_for(const std::exception& error) {
  if (is<Interrupted>(error)) return Exit::interrupted;
  if (is<ConfigError>(error) || is<InvalidRequest>(error) || is<StoreMoved>(error))
    return Exit::refused;
  if (is<StoreReadOnly>(error)) return Exit::read_only;
  if (is<StoreUnusable>(error) || is<StoreDamaged>(error)) return Exit::halted;
  if (is<StorageFailed>(error)) return Exit::storage_failed;
  return Exit::system;
}

}  // namespace holdfast::cli
