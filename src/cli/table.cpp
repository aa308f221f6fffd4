#include "cli/table.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "recovery/plain_text.hpp"

namespace holdfast::cli {

namespace {

constexpr int gap = 2;
constexpr int narrowest_last_column = 10;

std::string line_of(const std::vector<Cell>& cells, const std::vector<Column>& columns,
                    const std::vector<int>& widths, const Terminal& terminal) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    const std::string text =
        last && terminal.width > 0 ? shortened(cells[i].text, widths[i]) : cells[i].text;
    const auto padding = static_cast<std::size_t>(std::max(0, widths[i] - display_width(text)));
    if (columns[i].right) line.append(padding, ' ');
    line += painted(terminal, cells[i].colour, text);
    if (!columns[i].right && !last) line.append(padding, ' ');
    if (!last) line.append(gap, ' ');
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + '\n';
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
    const int before = std::accumulate(widths.begin(), widths.end() - 1, 0) +
                       gap * static_cast<int>(widths.size() - 1);
    widths.back() =
        std::min(widths.back(), std::max(narrowest_last_column, terminal.width - before));
  }
  std::string text = line_of(header, columns_, widths, terminal);
  for (const auto& row : rows_) text += line_of(row, columns_, widths, terminal);
  return text;
}

}  // namespace holdfast::cli
