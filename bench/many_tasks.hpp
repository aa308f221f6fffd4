#pragma once

#include <cstdint>

#include <holdfast/engine.hpp>

namespace holdfast::bench {

/// Fills a store as a busy one is filled: most tasks completed, some failed, cancelled, held and
/// blocked, a tenth waiting; in seven queues, of twelve kinds, with tags and priorities.
void fill(const Engine& engine, std::int64_t tasks);

}  // namespace holdfast::bench
