#pragma once

#include <map>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "http/left_alone.hpp"

namespace holdfast {

/// Hosts that running processors leave alone at this moment, each once, as of their last
/// heartbeats.
std::vector<http::LeftAlone> hosts_left_alone(const Engine& engine, WallTime now);
/// How many requests to one host each worker that has such a limit has in flight at most.
std::map<std::string, int> limits_per_host(const Engine& engine);
/// `example.com is left alone until 12:30:15 UTC: 10 failures in a row (Connection refused)`
std::string sentence_of(const http::LeftAlone& host);
/// The documented JSON of it.
std::string left_alone_json(const http::LeftAlone& host);

/// Why a task is where it is: what `Inspector::explain` says and, of a request that waits, that its
/// host is left alone.
std::string explain_task(const Engine& engine, const TaskRecord& task);

}  // namespace holdfast
