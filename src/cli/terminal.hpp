#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// What is at the other end of a stream.
struct Terminal {
  bool interactive = false;
  bool colour = false;
  int width = 0;  ///< columns; 0: unlimited

  static Terminal of(int fd);
};

enum class Colour { plain, dim, bold, green, yellow, red, cyan };

/// `text` in that colour, if the terminal has colours.
std::string painted(const Terminal& terminal, Colour colour, std::string_view text);

/// Columns that a text without control characters takes.
int display_width(std::string_view text);

/// The beginning of `text` that fits into `columns`, with an ellipsis where something was cut.
std::string shortened(std::string_view text, int columns);

/// `text` in lines of at most `columns`, broken at spaces; a word that is longer stays whole.
std::vector<std::string> wrapped(std::string_view text, int columns);

}  // namespace holdfast::cli
