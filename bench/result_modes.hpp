#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/rabbitmq_server.hpp"

namespace holdfast::bench {

/// The least that could be called a consumer: takes a message, writes a file, acknowledges. How
/// many of `count` it does in a second, while `publish` sends them.
double bare_rate(const test::RabbitmqServer& server, const std::filesystem::path& folder, int count,
                 const std::vector<std::string>& queues, const std::function<void()>& publish);

/// How long it takes until the transactions of an instance that is killed run in another one: so
/// many kills with two instances, and as many with four. `program` is started for them.
void measure_takeovers(const std::string& program, int kills);
/// What those are: `--hold STORE BROKER`.
int hold_transactions(const std::vector<std::string>& words);

/// How much memory is needed while so many megabytes flow through one process, in parts of 4 MiB
/// and of 250 MB, into files or into Azurite. Returns 1 if that is more than what may be taken
/// ahead explains, otherwise 0.
int measure_flow(const std::string& program, int megabytes, bool to_azurite);
/// What that is: `--collect STORE BROKER BLOBS PREFETCH`.
int collect_results(const std::vector<std::string>& words);

/// How many parts a second come into results of which many are open at once, in one instance and in
/// four, and how much memory these need: with 4, a tenth of `results` and `results` of them.
void measure_crowds(const std::string& program, int results, int parts);

}  // namespace holdfast::bench
