#pragma once

#include <memory>
#include <string>

#include <holdfast/batches.hpp>

#include "cli/context.hpp"
#include "documents/batch_json.hpp"

namespace CLI {
class App;
}

namespace holdfast::cli {

/// Reads an id as typed; throws `InvalidRequest` where it is none.
BatchId parse_batch_id(const std::string& text);
std::vector<BatchStatus> parse_batch_statuses(const std::vector<std::string>& texts);

/// The batch, or an `InvalidRequest` that says there is none.
BatchRecord require_batch(const Batches& batches, BatchId id);

Colour colour_of(BatchStatus status);
/// `17 of 20 rows done, 2 failed`
std::string progress_text(const BatchRecord& batch);

/// Where output files are, if `--output` does not say so: beside the file of a SQLite store.
/// Nothing for other stores, because nobody else would find it there.
std::shared_ptr<BlobStore> output_store(Context& context, const std::string& store,
                                        const std::string& address);

/// `--liveness`, and what it names; nothing if it is not given.
void add_liveness(CLI::App& command, std::string& address);
std::shared_ptr<Liveness> liveness_of(const std::string& address);

}  // namespace holdfast::cli
