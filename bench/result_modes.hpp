#pragma once

#include <string>
#include <vector>

namespace holdfast::bench {

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

}  // namespace holdfast::bench
