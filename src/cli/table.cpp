#include "cli/table.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

constexpr int gap = 2;
constexpr int narrowest_last_column = 10;

/// Sentences in a narrower column would be a word a line. They are put below their row instead.
constexpr int narrowest_wrapped_column = 30;
constexpr int indent = 4;

int sum(const std::vector<int>& widths) { return std::accumulate(widths.begin(), widths.end(), 0); }

std::string padded(const Cell& cell, const Column& column, int width, const Terminal& terminal) {
  const std::string space(static_cast<std::size_t>(std::max(0, width - display_width(cell.text))),
                          ' ');
  const auto text = painted(terminal, cell.colour, cell.text);
  return column.right ? space + text : text + space;
}

std::string line_of(std::vector<Cell> cells, const std::vector<Column>& columns,
                    const std::vector<int>& widths, const Terminal& terminal) {
  if (terminal.width > 0) cells.back().text = shortened(cells.back().text, widths.back());
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line.append(gap, ' ');
    line += padded(cells[i], columns[i], widths[i], terminal);
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + '\n';
}

/// A row whose last cell goes on below it.
std::string wrapped_row(std::vector<Cell> cells, const std::vector<Column>& columns,
                        const std::vector<int>& widths, const Terminal& terminal) {
  const int before = terminal.width - widths.back();
  const bool below =
      widths.back() < narrowest_wrapped_column && display_width(cells.back().text) > widths.back();
  const int start = below ? indent : before;
  auto lines = wrapped(cells.back().text, std::max(terminal.width - start, 1));
  if (below) lines.insert(lines.begin(), "");
  cells.back().text = lines.front();
  auto text = line_of(cells, columns, widths, terminal);
  for (std::size_t i = 1; i < lines.size(); ++i)
    text += std::string(static_cast<std::size_t>(start), ' ') + lines[i] + '\n';
  return text;
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  assert(row.size() == columns_.size());
  for (Cell& cell : row) cell.text = plain(cell.text);
  rows_.push_back(std::move(row));
}

std::string Table::text(const Terminal& terminal) const {
  std::vector<Cell> header;
  std::vector<int> widths;
  for (const Column& column : columns_) {
    header.emplace_back(column.name, Colour::dim);
    widths.push_back(display_width(column.name));
  }
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  if (terminal.width > 0) {
    const int before = sum(widths) - widths.back() + gap * static_cast<int>(widths.size() - 1);
    widths.back() =
        std::min(widths.back(), std::max(narrowest_last_column, terminal.width - before));
  }
  std::string text = line_of(header, columns_, widths, terminal);
  const bool wraps = terminal.width > 0 && columns_.back().wraps;
  for (const auto& row : rows_)
    text += (wraps ? wrapped_row : line_of)(row, columns_, widths, terminal);
  return text;
}

}  // namespace holdfast::cli
