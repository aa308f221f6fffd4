#pragma once

#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace holdfast::cli {

struct Column {
  std::string name;
  bool right = false;  ///< numbers are aligned by their last digit
  bool wraps = false;  ///< the last column only: what does not fit goes on below
};

struct Cell {
  std::string text;
  Colour colour = Colour::plain;

  Cell(std::string shown, Colour in = Colour::plain) : text{std::move(shown)}, colour{in} {}
  Cell(const char* shown) : text{shown} {}
};

/// Aligned columns. On a terminal the last column is cut to the width of the window, or wrapped;
/// into a pipe nothing is cut, wrapped or coloured. Cells are made visible here, so no caller can
/// forget it.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}
  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  std::string text(const Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace holdfast::cli
