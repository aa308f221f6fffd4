#include "batches/validate.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "tasks/json_text.hpp"
#include "tasks/names.hpp"

namespace holdfast {

namespace {

/// Both together are the kind that workers are known by.
constexpr std::size_t longest_app = 120;
constexpr std::size_t longest_op = longest_name - longest_app - 1;

void expect_json(std::string_view what, const std::string& json) {
  if (auto fault = json_fault(json); !fault.empty())
    throw InvalidRequest{fmt::format("{} is not JSON: {}", what, fault)};
}

void validate_row(const BatchRow& row, const Settings& settings) {
  if (row.line < 0)
    throw InvalidRequest{fmt::format("line {}: lines are counted from 1", row.line)};
  if (auto bytes = static_cast<std::int64_t>(row.input.size());
      bytes > settings.limits.payload_bytes)
    throw InvalidRequest{
        fmt::format("line {} has {} bytes and at most {} are allowed (limits.payload_bytes)",
                    row.line, bytes, settings.limits.payload_bytes)};
  if (auto fault = json_fault(row.input); !fault.empty())
    throw InvalidRequest{fmt::format("line {} is not JSON: {}", row.line, fault)};
}

}  // namespace

void validate_names(const std::string& app, const std::string& op) {
  check_name("application", app, longest_app);
  check_name("operation", op, longest_op);
  if (app.find('/') != app.npos)
    throw InvalidRequest{fmt::format("application '{}' has a slash in its name", app)};
  if (std::ranges::any_of(op, [](char c) { return c >= 'A' && c <= 'Z'; }))
    throw InvalidRequest{
        fmt::format("operation '{}' has capital letters; operations are in lower case", op)};
}

void validate_rows(std::span<const BatchRow> rows, const Settings& settings) {
  std::unordered_set<int> lines;
  lines.reserve(rows.size());
  for (const auto& row : rows) {
    validate_row(row, settings);
    if (row.line == 0 && rows.size() > 1)
      throw InvalidRequest{"line 0 is the only row of a slow query; lines are counted from 1"};
    if (!lines.insert(row.line).second)
      throw InvalidRequest{fmt::format("line {} is there twice", row.line)};
  }
}

void validate(const NewBatch& batch, const Settings& settings) {
  validate_names(batch.app, batch.op);
  expect_json("the context", batch.context);
  if (batch.rows.empty() && !batch.wait)
    throw InvalidRequest{"a batch without rows would never end; submit rows, or let it wait"};
  if (batch.wait && batch.rows.size() == 1 && batch.rows[0].line == 0)
    throw InvalidRequest{"a slow query has one row and does not wait for more"};
  if (!batch.then.empty()) check_name("kind", batch.then, longest_name);
  validate_rows(batch.rows, settings);
}

}  // namespace holdfast
