#pragma once

#include <memory>

#include "engines/postgres/address.hpp"
#include "recovery/clock.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast::postgres {

/// Opens the store at an address, making or migrating its tables if it may.
std::shared_ptr<EngineParts> open_store(const Address& address, Settings settings,
                                        const Clock& clock = system_clock());

struct Store;
/// The store of an engine; null if it is not one of ours.
Store* find_store(const Engine& engine);
/// The same; throws `InvalidRequest` if it is not one of ours.
Store& store_of(const Engine& engine);

}  // namespace holdfast::postgres
