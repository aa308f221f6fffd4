#pragma once

#include <string>

#include <holdfast/engine.hpp>

namespace holdfast::server {

/// How the store, its workers, its recovery and its queues are: a level and a sentence for each.
/// `trouble`: why the store cannot be asked; empty if it can.
std::string health_json(const Engine& engine, const std::string& trouble);

}  // namespace holdfast::server
