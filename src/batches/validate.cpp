#include "batches/validate.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>
#include <holdfast/error.hpp>

#include "batches/zeros.hpp"
#include "tasks/json_text.hpp"
#include "tasks/names.hpp"
#include "tasks/reserved.hpp"

namespace holdfast {

namespace {

/// Both together are the kind that workers are known by.
constexpr std::size_t longest_app = 120;
constexpr std::size_t longest_op = longest_name - longest_app - 1;

constexpr std::string_view zero_fault =
    "a text with a zero character (\\u0000), which not every store can keep";

void expect_json(std::string_view what, const std::string& json) {
  if (auto fault = json_fault(json); !fault.empty())
    throw InvalidRequest{fmt::format("{} is not JSON: {}", what, fault)};
  if (has_zero(json)) throw InvalidRequest{fmt::format("{} has {}", what, zero_fault)};
  check_members(what, json);
}

void validate_row(const BatchRow& row, const Settings& settings) {
  if (row.line < 0)
    throw InvalidRequest{fmt::format("line {}: lines are counted from 1", row.line)};
  if (auto fault = input_fault(row.input, settings.limits.payload_bytes); !fault.empty())
    throw InvalidRequest{fmt::format("line {}: {}", row.line, fault)};
}

}  // namespace

std::string input_fault(const std::string& input, std::int64_t most_bytes) {
  if (std::ssize(input) > most_bytes)
    return fmt::format("{} bytes, and at most {} are allowed (queue.limits.payloadBytes)",
                       input.size(), most_bytes);
  if (auto fault = json_fault(input); !fault.empty()) return "not JSON: " + fault;
  if (has_zero(input)) return std::string{zero_fault};
  if (const auto member = reserved_member(input); !member.empty())
    return fmt::format("the member '{}' is reserved for Holdfast itself; rename it", member);
  return {};
}

void validate_names(const std::string& app, const std::string& op) {
  check_name("application", app, longest_app);
  check_not_reserved("application", app);
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
  if (!batch.then.empty()) {
    check_name("kind", batch.then, longest_name);
    check_not_reserved("kind", batch.then);
  }
  validate_rows(batch.rows, settings);
}

}  // namespace holdfast
