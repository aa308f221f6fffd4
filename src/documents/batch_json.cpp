#include "documents/batch_json.hpp"

#include "documents/json.hpp"
#include "recovery/time_text.hpp"

namespace holdfast {

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

}  // namespace holdfast
