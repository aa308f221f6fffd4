#pragma once

#include <holdfast/batches.hpp>

#include "batches/batch_store.hpp"
#include "tasks/engine_parts.hpp"

namespace holdfast {

/// How a batch with these rows ends.
BatchStatus status_of(const BatchCounts& rows);

/// What is enqueued when a batch ends; nothing if nobody asked for it. Its id is made from the
/// batch's, so that a repetition is known as such.
std::optional<NewTask> follow_up_of(const BatchRecord& batch, BatchStatus status);

/// The end of a batch: its output files are written, and what is to be committed is worked out.
/// The rows are final by then, so it comes to the same however often it is done, and by whomever.
class Summary {
 public:
  Summary(EngineParts& parts, BatchStore& store, BlobStore* blobs)
      : parts_{parts}, store_{store}, blobs_{blobs} {}

  Outcome make(BatchId batch, Attempt& attempt);

 private:
  std::map<std::string, std::string> write_files(BatchId batch);

  EngineParts& parts_;
  BatchStore& store_;
  BlobStore* blobs_;
};

}  // namespace holdfast
