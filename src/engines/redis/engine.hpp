#pragma once

#include <memory>
#include <string_view>

#include "tasks/engine_parts.hpp"

namespace holdfast::redis {

/// Whether an address is one of a store in Redis.
bool is_address(std::string_view address);

/// Opens the store; see `Address` for what an address may say. `test_clock`: what the store is to
/// take for now, instead of the server's clock.
std::shared_ptr<EngineParts> open_store(std::string_view address, Settings settings,
                                        const Clock* test_clock = nullptr);

/// Whether there are keys of ours under the prefix. Changes nothing.
bool holds_store(std::string_view address);

}  // namespace holdfast::redis
