#pragma once

#include <memory>
#include <string>

#include "engines/sqlite/start_up.hpp"
#include "recovery/clock.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::sqlite {

/// Opens the store in a file, creating it if it is not there.
std::shared_ptr<EngineParts> open_store(const std::string& file, Settings settings,
                                        const Clock& clock = system_clock(),
                                        const OpenOptions& options = {});

struct Store;
/// The store of an engine; throws `InvalidRequest` if it is not one of ours.
Store& store_of(const Engine& engine);

}  // namespace holdfast::sqlite
