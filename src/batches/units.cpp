#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "batches/batch_store.hpp"

namespace holdfast {

namespace {

/// Rows have zeros here, where every batch has the time of its making.
constexpr std::size_t prefix = 8;

constexpr std::size_t line_at = 16;
constexpr std::size_t input_at = line_at + sizeof(std::int32_t);

}  // namespace

TaskId unit_of_row(std::int64_t row) {
  TaskId unit;
  auto rest = static_cast<std::uint64_t>(row);
  for (std::size_t i = unit.bytes.size(); i-- > prefix; rest >>= 8)
    unit.bytes[i] = static_cast<std::uint8_t>(rest & 0xff);
  return unit;
}

TaskId unit_of_summary(BatchId batch) { return TaskId{batch.bytes}; }

std::optional<std::int64_t> row_of(const TaskId& unit) {
  if (std::any_of(unit.bytes.begin(), unit.bytes.begin() + prefix,
                  [](std::uint8_t byte) { return byte != 0; }))
    return {};
  std::uint64_t row = 0;
  for (std::size_t i = prefix; i < unit.bytes.size(); ++i) row = row << 8 | unit.bytes[i];
  return static_cast<std::int64_t>(row);
}

BatchId batch_of_summary(const TaskId& unit) { return BatchId{unit.bytes}; }

std::string name_of_row(BatchId batch, std::int64_t line) {
  return fmt::format("line {} of batch {}", line, batch.text());
}

std::string name_of_summary(BatchId batch) { return "the summary of batch " + batch.text(); }

std::string pack(const UnitPayload& unit) {
  std::string payload;
  payload.reserve(input_at + unit.input.size());
  payload.append(reinterpret_cast<const char*>(unit.batch.bytes.data()), unit.batch.bytes.size());
  auto line = static_cast<std::int32_t>(unit.line);
  payload.append(reinterpret_cast<const char*>(&line), sizeof line);
  payload.append(unit.input);
  return payload;
}

std::pair<BatchId, int> place_of(std::string_view payload) {
  BatchId batch;
  std::int32_t line = 0;
  std::memcpy(batch.bytes.data(), payload.data(), batch.bytes.size());
  std::memcpy(&line, payload.data() + line_at, sizeof line);
  return {batch, line};
}

UnitPayload unpack_unit(std::string_view payload) {
  auto [batch, line] = place_of(payload);
  return {batch, line, std::string{payload.substr(input_at)}};
}

std::string unit_kind(std::string_view app, std::string_view op) {
  return fmt::format("{}/{}", app, op);
}

}  // namespace holdfast
