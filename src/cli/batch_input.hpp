#pragma once

#include <span>
#include <string>
#include <vector>

#include <holdfast/batch_file.hpp>
#include <holdfast/batches.hpp>

namespace CLI {
class App;
}

namespace holdfast::cli {

class Context;

/// Reads the rows of a file, `-` for standard input, in the format of that name; empty: by the end
/// of its name. Says on standard error which lines are no rows. Throws `InvalidRequest` if none is.
FileRows rows_of_file(Context& context, const std::string& path, const std::string& format);

/// What is said about files that become batches: application, operation, context and what follows.
void add_new_batch(CLI::App& command, NewBatch& batch, std::string& format);

/// Submits few rows at once. Many wait until the last of them is there; if that does not come
/// about, submitting the same file again goes on where it ended.
Batches::Submitted submit_rows(Batches& batches, NewBatch batch, std::vector<BatchRow> rows);

/// Appends rows after those that are there, also while others do; their lines are set. The last
/// portion releases the batch, if that is wanted.
void append_after_last(Batches& batches, BatchId id, std::span<BatchRow> rows, bool release);

}  // namespace holdfast::cli
