#include "cli/batch_text.hpp"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <holdfast/error.hpp>

namespace holdfast::cli {

BatchId parse_batch_id(const std::string& text) {
  if (auto id = BatchId::parse(text)) return *id;
  throw InvalidRequest{
      fmt::format("'{}' is not the id of a batch; 'holdfast batch list' shows them", text)};
}

std::vector<BatchStatus> parse_batch_statuses(const std::vector<std::string>& texts) {
  std::vector<BatchStatus> statuses;
  for (const auto& text : texts)
    if (auto status = parse_batch_status(text)) statuses.push_back(*status);
  return statuses;
}

BatchRecord require_batch(const Batches& batches, BatchId id) {
  if (auto batch = batches.status(id)) return *batch;
  throw InvalidRequest{fmt::format("there is no batch {}", id.text())};
}

Colour colour_of(BatchStatus status) {
  switch (status) {
    case BatchStatus::success:
      return Colour::green;
    case BatchStatus::failed:
      return Colour::red;
    case BatchStatus::inprog:
      return Colour::cyan;
    case BatchStatus::wait:
      return Colour::yellow;
    default:
      return Colour::dim;
  }
}

std::string progress_text(const BatchRecord& batch) {
  auto text =
      fmt::format("{} of {} rows done", batch.rows.all() - batch.rows.open(), batch.rows.all());
  for (auto status : {BatchStatus::failed, BatchStatus::aborted})
    if (auto count = batch.rows[status]; count > 0)
      text += fmt::format(", {} {}", count, to_string(status));
  return text;
}

std::shared_ptr<BlobStore> output_store(Context& context, const std::string& store,
                                        const std::string& address) {
  if (!address.empty()) return context.blobs(address);
  // That is for the owner of the store, like all that is beside it.
  if (auto file = sqlite_file(store)) return open_blobs("dir:" + *file + ".holdfast/output");
  return nullptr;
}

void add_liveness(CLI::App& command, std::string& address) {
  command
      .add_option("--liveness", address,
                  "The Redis of the services that share the tables of batches, such as "
                  "redis://HOST:PORT")
      ->type_name("URL");
}

std::shared_ptr<Liveness> liveness_of(const std::string& address) {
  if (address.empty()) return {};
  return open_liveness(address);
}

}  // namespace holdfast::cli
