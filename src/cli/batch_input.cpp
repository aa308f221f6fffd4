#include "cli/batch_input.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/batch_text.hpp"
#include "cli/context.hpp"
#include "cli/input_file.hpp"
#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

constexpr std::size_t most_problems_shown = 20;
// A commit of more rows would keep others waiting for too long.
constexpr std::size_t rows_at_once = 20'000;

void complain(const std::string& path, const std::vector<FileRows::Problem>& problems) {
  for (std::size_t i = 0; i < std::min(problems.size(), most_problems_shown); ++i)
    fmt::print(stderr, "holdfast: {}:{}: {}\n", plain(path), problems[i].line,
               plain(problems[i].what));
  if (problems.size() > most_problems_shown)
    fmt::print(stderr, "holdfast: {}: {} more lines are no rows\n", plain(path),
               problems.size() - most_problems_shown);
}

/// The next rows that are appended in one step.
template <class T>
std::span<T> portion(std::span<T> rows) {
  return rows.first(std::min(rows.size(), rows_at_once));
}

void append_rows(Batches& batches, BatchId id, std::span<const BatchRow> rows, bool release) {
  while (!rows.empty()) {
    auto some = portion(rows);
    batches.append(id, {some.begin(), some.end()}, release && some.size() == rows.size());
    rows = rows.subspan(some.size());
  }
}

int last_line(const Batches& batches, BatchId id) {
  RowFilter filter{.batch = id, .limit = static_cast<int>(rows_at_once)};
  int last = 0;
  for (auto page = batches.rows(filter); !page.empty(); page = batches.rows(filter)) {
    last = filter.after_line = page.back().line;
    filter.after_row = page.back().id;
  }
  return last;
}

}  // namespace

FileRows rows_of_file(Context& context, const std::string& path, const std::string& format) {
  auto name = path == "-" ? path : std::filesystem::path{path}.filename().string();
  auto as = format.empty() ? format_of(name)
                           : (format == "csv" ? FileFormat::csv : FileFormat::json_lines);
  auto read =
      read_rows(name, content_of_input(path), as, context.config().settings.limits.payload_bytes);
  auto place = path == "-" ? "standard input" : path;
  complain(place, read.problems);
  if (read.rows.empty())
    throw InvalidRequest{
        fmt::format("{} has no rows{}", place, read.problems.empty() ? "" : " that can be read")};
  return read;
}

void add_new_batch(CLI::App& command, NewBatch& batch, std::string& format) {
  command.add_option("--app", batch.app, "Application")->required()->type_name("APP");
  command.add_option("--op", batch.op, "Operation")->required()->type_name("OP");
  command.add_option("--context", batch.context, "For every row; default: {}")->type_name("JSON");
  command.add_option("--format", format, "Default: by the name of the file")
      ->check(CLI::IsMember({"jsonl", "csv"}));
  command.add_option("--then", batch.then, "Enqueue a task of this kind when it ends")
      ->type_name("KIND");
}

Batches::Submitted submit_rows(Batches& batches, NewBatch batch, std::vector<BatchRow> rows) {
  bool release = !batch.wait;
  if (rows.size() <= rows_at_once) {
    batch.rows = std::move(rows);
    return batches.submit(batch);
  }
  batch.wait = true;
  auto submitted = batches.submit(batch);
  // Others may submit the same file. Then all of them append, each what is not there yet.
  while (require_batch(batches, submitted.id).status == BatchStatus::wait) {
    auto left =
        std::ranges::upper_bound(rows, last_line(batches, submitted.id), {}, &BatchRow::line);
    if (left == rows.end()) break;
    try {
      append_rows(batches, submitted.id, {left, rows.end()}, release);
      return {submitted.id, true};
    } catch (const LineIsThere&) {
      submitted.created = false;
    } catch (const InvalidRequest&) {
      if (require_batch(batches, submitted.id).status == BatchStatus::wait) throw;
      submitted.created = false;  // somebody else has let it run
    }
  }
  return submitted;
}

void append_after_last(Batches& batches, BatchId id, std::span<BatchRow> rows, bool release) {
  auto last = last_line(batches, id);
  while (!rows.empty()) {
    auto some = portion(rows);
    for (auto line = last; auto& row : some) row.line = ++line;
    try {
      batches.append(id, {some.begin(), some.end()}, release && some.size() == rows.size());
      last = some.back().line;
      rows = rows.subspan(some.size());
    } catch (const LineIsThere&) {
      last = last_line(batches, id);
    }
  }
}

}  // namespace holdfast::cli
