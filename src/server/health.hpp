#pragma once

#include <string>

#include <holdfast/engine.hpp>

#include "server/watcher.hpp"

namespace holdfast::server {

/// How the store, its workers, its recovery and its queues are: a level and a sentence for each.
std::string health_json(const Engine& engine, Watcher& watcher);

}  // namespace holdfast::server
