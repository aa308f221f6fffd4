#include "cli/batch_text.hpp"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/json.hpp"
#include "recovery/time_text.hpp"

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

std::string batch_json(const BatchRecord& batch) {
  JsonObject rows, files;
  for (int i = 0; i < batch_status_count; ++i) {
    auto status = static_cast<BatchStatus>(i);
    if (status != BatchStatus::wait) rows.number(to_string(status), batch.rows[status]);
  }
  for (const auto& [name, key] : batch.output_files) files.text(name, key);
  return JsonObject{}
      .text("id", batch.id.text())
      .text("app", batch.app)
      .text("op", batch.op)
      .text("status", to_string(batch.status))
      .json("context", json_line(batch.context))
      .text("input_file", batch.input_file)
      .text("then", batch.then)
      .text("submitted_at", iso8601(batch.submitted_at))
      .json("done_at", batch.done_at ? json_string(iso8601(*batch.done_at)) : "")
      .json("rows", rows.str())
      .json("output_files", files.str())
      .str();
}

std::string row_json(const RowRecord& row) {
  return JsonObject{}
      .number("line", row.line)
      .text("status", to_string(row.status))
      .json("input", json_line(row.input))
      .json("result", json_line(row.result))
      .json("messages", json_line(row.messages))
      .json("output", json_line(row.output))
      .number("attempt", row.attempt)
      .text("done_by", row.done_by)
      .json("done_at", row.done_at ? json_string(iso8601(*row.done_at)) : "")
      .str();
}

std::string progress_text(const BatchRecord& batch) {
  auto failed = batch.rows[BatchStatus::failed];
  return fmt::format("{} of {} rows done{}", batch.rows.all() - batch.rows.open(), batch.rows.all(),
                     failed > 0 ? fmt::format(", {} failed", failed) : "");
}

std::shared_ptr<BlobStore> output_store(Context& context, const std::string& address) {
  if (!address.empty()) return open_blobs(address);
  if (auto file = sqlite_file(context.store_address()))
    return open_blobs("dir:" + *file + ".holdfast/output");
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
